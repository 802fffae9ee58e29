"""When groups are merged, and when an overwrite of nearly everything is not done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, IcebergType, LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange, TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_STATE, is_hidden
from dbt.adapters.icebergmv.maintenance.planning.choice.deltas import signed_deltas
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.cost import cost
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import changed_nearly_everywhere, small_beside_large
from dbt.adapters.icebergmv.maintenance.planning.plan import Delta, Full, Merge, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import can_merge
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import (
    are_few,
    can_be_cancelled,
    is_sent_to_every_task,
)
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    MOST_KEYS,
    TOO_DEAR,
    ask,
    too_many,
    values_of,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.recorded.hidden_columns import shown
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, IcebergSource
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows
from tests.support.bare_tables import bare_table
from tests.support.bases import analysed, base_status, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, count(*) AS c FROM t GROUP BY region")
BY_DAY = analysed("SELECT d, count(*) AS c FROM t GROUP BY d")
JOINED = analysed("SELECT u.region, sum(t.v) AS s FROM t JOIN u ON t.id = u.id GROUP BY u.region")
ONE_DAY = change([partition_rows([("identity", "d")], (10,))])
EU = (TupleDomain.where({ColumnKey("region"): Domain.of("EU")}),)
CHANGED = Delta(0, 1, appended=False, touched=ONE_DAY.constraints.data_disjuncts, signed=True)
T = ("lake", "ns", "t")


def test_groups_are_merged_where_no_partition_follows_them() -> None:
    plan = plan_refresh(BY_REGION, status(sized(ONE_DAY, 10)), PlanRequest("auto", merges=True))
    assert plan == Merge("t: 1 partition changed", (CHANGED,))


@pytest.mark.parametrize("unreached", ["t", "u"])
def test_a_change_that_can_reach_no_group_is_said_to_be_without_effect(unreached: str) -> None:
    bases = [sized(change([], unit="file") if n == unreached else ONE_DAY, 10, n, i) for i, n in enumerate("tu")]
    plan = plan_refresh(JOINED, status(*bases), PlanRequest("auto", merges=True))
    said = {n: "0 files changed, without effect" if n == unreached else "1 partition changed" for n in "tu"}
    assert (plan.kind, plan.reason) == ("merge", f"t: {said['t']}; u: {said['u']}")


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (PlanRequest("auto"), Full),
        (PlanRequest("auto", merges=True, answers={0: EU}), Merge),
        (PlanRequest("auto", merges=True, answers={0: ()}), NoOp),
        (PlanRequest("auto", merges=True, rebuild="--full-refresh"), Full),
        (PlanRequest("full", merges=True), Full),
    ],
)
def test_what_else_decides(request_: PlanRequest, kind: type) -> None:
    assert isinstance(plan_refresh(BY_REGION, status(sized(ONE_DAY, 10)), request_), kind)


BY_ID = analysed("SELECT id, sum(v) AS s FROM t GROUP BY id")
CLEAR = {
    "a column that is read": (BY_ID, {"v"}, True),
    "none that is known": (BY_ID, set(), False),
    "a column that is not read": (BY_ID, {"region"}, False),
    "rows of a subquery": (analysed("SELECT id, sum(v) AS s FROM (SELECT * FROM t) GROUP BY id"), {"v"}, False),
    "only some rows": (analysed("SELECT id, sum(v) AS s FROM t WHERE d > 3 GROUP BY id"), {"v"}, False),
    "only some groups": (analysed("SELECT id, sum(v) AS s FROM t GROUP BY id HAVING count(*) > 1"), {"v"}, False),
    "only rows that others join": (analysed("SELECT t.id, sum(t.v) AS s FROM t, u GROUP BY t.id"), {"v"}, False),
    "rows that may be there already": (analysed("SELECT id, count(DISTINCT v) AS s FROM t GROUP BY id"), {"v"}, False),
    "a total": (analysed("SELECT sum(v) AS s FROM t x"), {"v"}, True),
}


@pytest.mark.parametrize("name", CLEAR)
def test_nobody_is_asked_whether_a_change_reaches_a_group_that_metrics_show(name: str) -> None:
    definition, differing, is_clear = CLEAR[name]
    bases = status(sized(replace(ONE_DAY, unit="file", differing=frozenset(differing)), 10))
    asked = references_to_ask(definition, bases, PlanRequest("auto", merges=True))
    assert asked.is_nothing is is_clear
    if is_clear:
        assert isinstance(plan_refresh(definition, bases, PlanRequest("auto", merges=True)), Merge)
        assert references_to_ask(definition, bases, PlanRequest("auto")).needed


def test_what_partitions_say_is_overwritten() -> None:
    plan = plan_refresh(BY_DAY, status(sized(ONE_DAY, 10)), PlanRequest("auto", merges=True))
    assert isinstance(plan, Overwrite)


@pytest.mark.parametrize(("policy", "kind"), [("auto", Full), ("incremental", Merge), ("incremental_strict", Merge)])
def test_with_auto_a_change_that_is_most_of_all_rows_is_not_read_twice(policy: RefreshPolicy, kind: type) -> None:
    large = sized(replace(ONE_DAY, changed_rows=900_000), rows=1_000_000)
    assert isinstance(plan_refresh(BY_REGION, status(large), PlanRequest(policy, merges=True)), kind)


def test_tables_are_read_one_after_the_other() -> None:
    appended = replace(ONE_DAY, appended_since=1, appended_rows=3)
    assert signed_deltas(
        JOINED, [sized(appended, 10), sized(change([TupleDomain.all()], unit="file"), 10, "u", 1)]
    ) == (
        replace(CHANGED, appended=True, before={1: 1}, touched=None, signed=False),
        Delta(1, 1, appended=False, signed=True),
    )


def test_a_table_whose_former_version_is_gone() -> None:
    base = sized(ONE_DAY, 10)
    assert base.recorded is not None
    expired = replace(base.recorded, version=TableVersion("uuid", 99, 0))
    assert signed_deltas(BY_REGION, [replace(base, recorded=expired)]) is None


APPENDED = replace(ONE_DAY, appended_since=1, appended_rows=3)
JOINED_BELOW = analysed(
    "SELECT region, sum(v) AS s FROM (SELECT u.region, t.v FROM t JOIN u ON t.id = u.id) q(region, v) GROUP BY region"
)
HANDED_ON = analysed(
    "SELECT region, sum(v) AS s FROM (SELECT u.region, t.v FROM t JOIN u ON t.id = u.id) q GROUP BY region"
)


@pytest.mark.parametrize(
    ("definition", "changes", "rows", "policy", "kind"),
    [
        (JOINED, (APPENDED, APPENDED), 10, "auto", Merge),
        (JOINED, (ONE_DAY, APPENDED), 10, "auto", Merge),
        (HANDED_ON, (ONE_DAY, APPENDED), 10, "auto", Merge),
        (JOINED_BELOW, (ONE_DAY, APPENDED), 10, "auto", Full),
        (JOINED_BELOW, (ONE_DAY, APPENDED), 10, "incremental", Merge),
        (JOINED_BELOW, (ONE_DAY, APPENDED), 1_000_000, "auto", Merge),
        (JOINED, (replace(ONE_DAY, changed_rows=300_000), ONE_DAY), 1_000_000, "auto", Merge),
        (JOINED, (replace(ONE_DAY, changed_rows=400_000), ONE_DAY), 1_000_000, "auto", Full),
        (JOINED_BELOW, (replace(ONE_DAY, changed_rows=400_000), ONE_DAY), 1_000_000, "auto", Full),
    ],
)
def test_merging_has_to_pay(
    definition: ViewDefinition, changes: tuple[TableChange, TableChange], rows: int, policy: RefreshPolicy, kind: type
) -> None:
    """A table whose rows get no sign on the way is read twice, in two queries."""
    facts, dims = changes
    bases = status(sized(facts, rows), sized(dims, 100, "u", 1))
    assert isinstance(plan_refresh(definition, bases, PlanRequest(policy, merges=True)), kind)


@pytest.mark.parametrize(
    ("changed", "full_seconds", "kind"),
    [(1000, None, Merge), (1000, 0.0, Full), (1000, 3.0, Full), (1000, 5.0, Merge), (300_000, 5.0, Full)],
)
def test_queries_of_a_merge_have_to_be_little_beside_a_full_refresh(
    changed: int, full_seconds: float | None, kind: type
) -> None:
    """Of a table of which few rows changed next to nothing is read; the other one is read whole."""
    bases = status(sized(replace(ONE_DAY, changed_rows=changed), 1_000_000), sized(ONE_DAY, 100, "u", 1))
    request = PlanRequest("auto", merges=True, full_seconds=full_seconds)
    assert isinstance(plan_refresh(JOINED, bases, request), kind)
    small = status(sized(replace(ONE_DAY, changed_rows=1), 1000), sized(ONE_DAY, 100, "u", 1))
    assert isinstance(plan_refresh(JOINED, small, request), Merge)


def merged(facts: TableChange, dims: TableChange, rows: int) -> list[tuple[int, bool, bool]]:
    """Return the deltas of a merge of facts joined to dimensions: what changed, what cancels, whether few are left."""
    bases = status(sized(facts, rows), sized(dims, 1000, "u", 1))
    plan = plan_refresh(JOINED, bases, PlanRequest("incremental", merges=True))
    assert isinstance(plan, Merge)
    return [(d.changed, d.cancelled, d.few) for d in plan.deltas if isinstance(d, Delta)]


def test_a_table_that_others_are_joined_to_is_compared_first() -> None:
    """Of a small file that was written again mostly one row is another one; each row joins many."""
    fresh = change(status="fresh")
    renamed = replace(ONE_DAY, changed_rows=2000)
    assert merged(fresh, renamed, 10_000) == [(1, True, True)]
    assert merged(fresh, renamed, 8000) == [(1, False, False)]
    assert merged(fresh, replace(ONE_DAY, changed_rows=1), 4000) == [(1, False, False)]
    assert merged(fresh, replace(renamed, appended_since=1, appended_rows=3), 10_000) == [(1, False, False)]
    assert merged(renamed, fresh, 10_000) == [(0, False, False)]


def test_comparing_first_may_make_a_merge_pay() -> None:
    """A small table of one file that was written again is read twice, in both versions."""
    bases = status(sized(change(status="fresh"), 5_000_000), sized(replace(ONE_DAY, changed_rows=2000), 1000, "u", 1))
    assert isinstance(plan_refresh(JOINED, bases, PlanRequest("auto", merges=True)), Merge)


def test_extremes_see_all_rows_of_one_change() -> None:
    """Rows that did not change show that an extreme is there still."""
    highest = analysed("SELECT u.region, max(t.v) AS m FROM t JOIN u ON t.id = u.id GROUP BY u.region")
    renamed = sized(replace(ONE_DAY, changed_rows=2000), 1000, "u", 1)

    def cancelled(facts: TableChange) -> list[bool]:
        plan = plan_refresh(highest, status(sized(facts, 10_000), renamed), PlanRequest("incremental", merges=True))
        assert isinstance(plan, Merge)
        return [d.cancelled for d in plan.deltas if isinstance(d, Delta)]

    assert cancelled(change(status="fresh")) == [False]
    assert cancelled(replace(ONE_DAY, appended_since=1, appended_rows=3)) == [False, True]


@pytest.mark.parametrize(("rows", "size", "few"), [(1000, 1024, True), (1000, 2**25, False), (600_000, 1024, False)])
def test_how_many_rows_are_sent_to_every_task(rows: int, size: int, few: bool) -> None:
    base = sized(replace(ONE_DAY, changed_rows=rows, changed_bytes=size), 5_000_000)
    assert are_few(base) is few


@pytest.mark.parametrize(
    ("joined", "sent"),
    [
        ("t JOIN u ON t.id = u.id JOIN u AS x ON t.v = x.v", True),
        ("t LEFT JOIN u USING (id) NATURAL JOIN u AS x", True),
        ("t, u WHERE t.id = u.id", True),
        ("t JOIN u ON t.id = u.id CROSS JOIN u AS x", True),
        ("t, u, u AS x WHERE t.id = u.id AND t.v = x.v", False),
        ("t CROSS JOIN u JOIN u AS x ON t.v = x.v WHERE t.id = u.id", False),
        ("t JOIN u JOIN u AS x ON t.v = x.v WHERE t.id = u.id", False),
        ("t WHERE id IN (SELECT u.id FROM u, u AS x, t AS y WHERE u.v = x.v AND x.d = y.d)", False),
        ("(SELECT t.id FROM t, u, u AS x WHERE t.id = u.id AND u.v = x.v) AS t", False),
        ("t", True),
    ],
)
def test_tables_that_a_where_joins_keep_the_order_that_spark_gives_them(joined: str, sent: bool) -> None:
    definition = analysed(f"SELECT count(*) AS c FROM {joined}")
    assert is_sent_to_every_task(definition, sized(replace(ONE_DAY, changed_rows=1000), 5_000_000)) is sent


@pytest.mark.parametrize(("of", "can"), [(LongType(), True), (DoubleType(), False)])
def test_floats_are_not_compared(of: IcebergType, can: bool) -> None:
    """0.0 and -0.0 are equal and not the same."""
    table = bare_table("t", {"w": of}, (), (1,))
    source = IcebergSource(table, T, TableVersion("uuid", 1, 0), table.schema(), table.schema())
    assert can_be_cancelled(analysed("SELECT w, count(*) AS c FROM t GROUP BY w"), source, 0) is can


NEARLY = frozenset([T])


@pytest.mark.parametrize(
    ("definition", "request_", "kind"),
    [
        (BY_DAY, PlanRequest("auto", changed_nearly_everywhere=NEARLY), Full),
        (BY_DAY, PlanRequest("auto", changed_nearly_everywhere=NEARLY, merges=True), Merge),
        (BY_DAY, PlanRequest("auto"), Overwrite),
        (BY_DAY, PlanRequest("incremental", changed_nearly_everywhere=NEARLY), Overwrite),
        (BY_DAY, PlanRequest("incremental", changed_nearly_everywhere=NEARLY, merges=True), Merge),
        (BY_REGION, PlanRequest("auto", changed_nearly_everywhere=NEARLY, answers={0: EU}), Overwrite),
    ],
)
def test_nearly_everything(definition: object, request_: PlanRequest, kind: type) -> None:
    plan = plan_refresh(definition, status(sized(ONE_DAY, 10)), request_)  # type: ignore[arg-type]
    assert isinstance(plan, kind)


def test_a_full_refresh_says_what_was_asked_before_it_in_vain() -> None:
    request_ = PlanRequest("auto", changed_nearly_everywhere=NEARLY, answers={0: TOO_DEAR})
    plan = plan_refresh(BY_DAY, status(sized(ONE_DAY, 10)), request_)
    why = "t changed and its changed rows take longer to ask than everything takes to compute"
    assert plan == Full(f"cheaper than an overwrite of nearly everything (t: 1 partition changed); {why}")


@pytest.fixture
def by_day(tmp_path: Path) -> Table:
    """Return a table with five days."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    schema = Schema(NestedField(1, "day", LongType(), required=False))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "day"))
    table = catalog.create_table("ns.t", schema, partition_spec=spec)
    table.append(pa.table({"day": [1, 2, 3, 4, 5, 5]}))
    catalog.close()
    return table


@pytest.mark.parametrize(("days", "few", "found"), [(4, 1, NEARLY), (3, 1, frozenset()), (5, 100, frozenset())])
def test_partitions_are_counted(
    by_day: Table, days: int, few: int, found: frozenset[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "FEW_ROWS", few)
    head = by_day.metadata.current_snapshot_id
    source = IcebergSource(by_day, T, TableVersion("uuid", head, 0), by_day.schema(), by_day.schema())
    changed = change([partition_rows([("identity", "v")], (n,)) for n in range(days)])
    base = replace(base_status(changed), base=BaseTable(T, source))
    assert changed_nearly_everywhere(status(base)) == found
    rows = ListedRows({"v": "int"}, ((1,),), (1,))
    for other in (replace(base, change=replace(changed, unit="file")), replace(base, listed=rows)):
        assert changed_nearly_everywhere(status(other)) == frozenset()


def test_a_small_table_beside_a_large_one() -> None:
    facts, dims = sized(change(status="fresh"), 5_000_000), sized(ONE_DAY, 1000, "u", 1)
    assert small_beside_large(status(facts, dims)) == {1}
    assert small_beside_large(status(replace(facts, change=ONE_DAY), dims)) == {1}
    assert small_beside_large(status(sized(change(status="fresh"), 5000), dims)) == frozenset()


def test_more_keys_than_a_predicate_takes() -> None:
    def run(sql: str) -> list[tuple[object, ...]]:
        return [(n, None) for n in range(int(sql.split("LIMIT ")[1]))]

    assert ask("SELECT 1", [[Column("a", "int"), Column("b", "string")]], run) == too_many(MOST_KEYS)
    assert values_of("SELECT 1", run) == too_many(MOST_KEYS)
    assert values_of("SELECT 1", lambda sql: [(1,), (None,)]) == Domain.of(1, None)
    assert MOST_KEYS == 1000


@pytest.mark.parametrize(
    ("sql", "types", "merges"),
    [
        ("SELECT sum(v) AS s FROM t", ("bigint", "bigint", "bigint"), True),
        ("SELECT sum(v) AS s FROM t", ("double", "bigint", "bigint"), False),
        ("SELECT sum(v) AS s FROM t", ("decimal(38,4)", "bigint", "bigint"), True),
        ("SELECT avg(v) AS s FROM t", ("double", "bigint", "double", "bigint", "decimal(30,0)"), False),
        ("SELECT avg(v) AS s FROM t", ("decimal(16,6)", "bigint", "decimal(25,2)", "bigint", "decimal(30,0)"), True),
        ("SELECT avg(v) AS s FROM t", ("decimal(16,6)", "bigint", "decimal(26,2)", "bigint", "decimal(30,0)"), False),
        ("SELECT avg(v) AS s FROM t", ("double", "bigint", "bigint", "bigint", "bigint"), True),
        ("SELECT avg(v + 1) AS s FROM t", ("double", "bigint", "bigint", "bigint", "decimal(38,11)"), True),
        ("SELECT avg(v) AS s FROM t", ("decimal(14,6)", "bigint", "decimal(20,2)", "bigint", "bigint"), False),
        ("SELECT max(v) AS m FROM t", ("float", "bigint"), False),
        ("SELECT max(v) AS m FROM t", ("array<int>", "bigint"), False),
        ("SELECT region, count(*) AS c FROM t GROUP BY region", ("double", "bigint"), False),
    ],
)
def test_types_that_add_up_exactly(sql: str, types: tuple[str, ...], merges: bool) -> None:
    definition = analysed(sql)
    assert definition.merging is not None and definition.columns is not None
    hidden = [f"{HIDDEN_STATE}{n}" for n in range(len(definition.merging.hidden))]
    names = [*(c.name for c in definition.columns), *hidden]
    columns = [Column(name, of) for name, of in zip(names, types, strict=True)]
    assert can_merge(definition.merging, columns) == merges


def test_hidden_columns_are_not_shown() -> None:
    schema = Schema(NestedField(1, "n", LongType()), NestedField(2, f"{HIDDEN_STATE}0", LongType()), schema_id=3)
    assert [f.name for f in shown(schema).fields] == ["n"]
    assert shown(schema).schema_id == 3
    assert is_hidden("ICEBERGMV_STATE_7") and not is_hidden("icebergmv_state")
