"""A long list of values holds on Spark for just the rows for which the literals hold, in both ways to delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unittest.mock import patch

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql import rendering
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction, literal_or_null
from integration.support.lake import LakeProject

DAY = 86_400_000_000
VALUES: Mapping[str, Sequence[Value]] = {
    "int": [0, -1, 2**31 - 1, -(2**31), 7, 8],
    "bigint": [0, -1, 2**63 - 1, -(2**63), 7, 8],
    "string": [
        "",
        " ",
        "a",
        "A",
        "a ",
        "it's",
        "back\\slash",
        "${x}",
        "é",
        "null",
        "\n",
        "1",
        "a;b",
        "~",
        "\U0001f600",
    ],
    "date": [0, -1, 19_000, -719_000, 2_932_896],
    "timestamp": [0, -1, 19_000 * DAY + 1, 1_700_000_000_123_456, -62_000_000_000_000_000],
}
PARTITIONED = {"": "", "by value": "PARTITIONED BY (key)", "by bucket": "PARTITIONED BY (bucket(3, key))"}
IN_EVERY_RUN = [("string", "copy-on-write", ""), ("timestamp", "merge-on-read", "by value")]
TRIED = [
    pytest.param(*case, marks=() if case in IN_EVERY_RUN else pytest.mark.long)
    for case in [(t, d, p) for t in VALUES for d in ("copy-on-write", "merge-on-read") for p in PARTITIONED]
]


@pytest.mark.parametrize(("of", "delete", "partitioned"), TRIED)
def test_long_lists_hold_for_the_rows_that_literals_hold_for(
    lake: LakeProject, of: str, delete: str, partitioned: str
) -> None:
    """The column has the name that the list has inside, too."""
    table = f"lake.{lake.schema}.long_{of}_{delete[0]}{len(partitioned)}"
    rows = [literal_or_null(v, of) for v in [*VALUES[of], None] for _ in range(3)]
    lake.sql(
        f"CREATE TABLE {table} USING iceberg {PARTITIONED[partitioned]} TBLPROPERTIES ('write.delete.mode'='{delete}')"
        f" AS {' UNION ALL '.join(f'SELECT {row} AS key, {n} AS value' for n, row in enumerate(rows))}"
    )
    lake.sql(f"ALTER TABLE {table} CREATE BRANCH other")
    shown = f"{internal_form(of, 'key')}, value"
    for values in (VALUES[of][::2], [*VALUES[of][1::2], None]):
        region = TupleDomain.where({ColumnKey("key"): Domain.of(*values)})
        with patch.object(rendering, "LONG_LIST", 1):
            listed = conjunction(region, {"key": of}, Dialect("lake", long_lists=True))
        literals = conjunction(region, {"key": of}, Dialect("lake"))
        assert "explode(split(" in listed and "explode" not in literals

        def found(where: str, source: str = table) -> list[tuple[object, ...]]:
            return sorted(map(tuple, lake.sql(f"SELECT {shown} FROM {source} WHERE {where}")), key=repr)

        assert found(listed) == found(literals) and len(found(literals)) == 3 * len(values)
        assert found(f"({listed}) IS NOT TRUE") == found(f"({literals}) IS NOT TRUE") != []
        assert found(listed, f"(SELECT * FROM {table} WHERE {listed})") == found(literals)
        kept = found(f"({literals}) IS NOT TRUE", f"{table} VERSION AS OF 'other'")
        lake.sql(f"DELETE FROM {table}.branch_other WHERE {listed}")
        assert found("true", f"{table} VERSION AS OF 'other'") == kept
