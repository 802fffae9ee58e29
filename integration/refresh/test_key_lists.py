"""A list of rows holds on Spark for just the rows for which the terms hold."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.key_lists import in_lists
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, literal_or_null
from integration.support.lake import LakeProject

DAY = 86_400_000_000
VALUES: Mapping[str, Sequence[Value | None]] = {
    "boolean": [None, True, False],
    "int": [None, 0, -1, 2**31 - 1, -(2**31), 7],
    "bigint": [None, 0, -1, 2**63 - 1, -(2**63), 7],
    "string": [None, "", " ", "a", "A", "it's", "back\\slash", "${x}", "é", "null", "\n"],
    "date": [None, 0, -1, 19_000, -719_000],
    "timestamp": [None, 0, -1, 19_000 * DAY + 1, 1_700_000_000_123_456],
    "timestamp_ntz": [None, 0, 19_000 * DAY + 1],
}
EXACT = [("int", "string"), ("bigint", "date", "boolean"), ("timestamp", "string"), ("timestamp_ntz", "int")]


def rows_of(types: Sequence[str], count: int, rows: random.Random) -> list[tuple[Value | None, ...]]:
    return [tuple(rows.choice(VALUES[t]) for t in types) for _ in range(count)]


EACH_ONCE = (("int", "string", "copy-on-write"), ("timestamp", "string", "merge-on-read"))
"""What is tried in every run of the tests; the rest is `long`."""
TRIED = [
    pytest.param(types, delete, marks=() if (*types, delete) in EACH_ONCE else pytest.mark.long)
    for types in EXACT
    for delete in ("copy-on-write", "merge-on-read")
]


@pytest.mark.parametrize(("types", "delete"), TRIED)
def test_lists_hold_for_the_rows_that_terms_hold_for(lake: LakeProject, types: tuple[str, ...], delete: str) -> None:
    seeded = random.Random("-".join(types))
    columns = {f"c{n}": t for n, t in enumerate(types)}
    table = f"lake.{lake.schema}.keys_{'_'.join(types)}_{delete[0]}"
    written = [[literal_or_null(v, t) for v, t in zip(row, types, strict=True)] for row in rows_of(types, 200, seeded)]
    named = [", ".join(f"{v} AS c{n}" for n, v in enumerate(row)) for row in written]
    lake.sql(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (c0) TBLPROPERTIES ('write.delete.mode'='{delete}') AS "
        + " UNION ALL ".join(f"SELECT {text}" for text in named)
    )
    dialect = Dialect("lake")
    over_expressions = Dialect("lake", columns={c: f"element_at(array({c}), 1)" for c in columns})
    region = [
        TupleDomain.where({ColumnKey(f"c{n}"): Domain.of(v) for n, v in enumerate(row)})
        for row in dict.fromkeys(rows_of(types, 30, seeded))
    ]
    region.append(TupleDomain.where({ColumnKey(c): Domain.of(*VALUES[t][:2]) for c, t in columns.items()}))
    forms = {
        "terms": disjunction(region, columns, dialect),
        "lists": in_lists(region, columns, dialect),
        "over expressions": in_lists(region, columns, over_expressions),
    }
    assert "struct(" in forms["lists"] and "struct(" in forms["over expressions"]
    shown = ", ".join(internal_form(t, c) or f"CAST({c} AS string)" for c, t in columns.items())
    found = {
        name: sorted(map(repr, lake.sql(f"SELECT {shown} FROM {table} WHERE {where}"))) for name, where in forms.items()
    }
    assert found["lists"] == found["over expressions"] == found["terms"] and found["terms"]
    others = lake.sql(f"SELECT count(*) FROM {table} WHERE ({forms['lists']}) IS NOT TRUE")
    assert others[0][0] == 200 - len(found["terms"])
    lake.sql(f"DELETE FROM {table} WHERE {forms['lists']}")
    assert lake.sql(f"SELECT count(*) FROM {table} WHERE {forms['terms']}")[0][0] == 0
    assert lake.sql(f"SELECT count(*) FROM {table}")[0][0] == 200 - len(found["terms"])
