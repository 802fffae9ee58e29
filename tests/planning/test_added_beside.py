"""One table got rows nearly everywhere, and another changed otherwise: what is replaced, added, and asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Delta, Full, Overwrite
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.support.bases import analysed, change, partition_rows, sized, status

MANY = 1_000_000
FACTS = ("lake", "ns", "t")
REQUEST = PlanRequest("auto", changed_nearly_everywhere=frozenset([FACTS]))
JOINED = analysed("SELECT f.d, f.v, c.region FROM t f JOIN u c ON f.id = c.id")
REVERSED = analysed("SELECT f.d, f.v, c.region FROM u c JOIN t f ON f.id = c.id")
UNTRACKED = analysed("SELECT f.v, c.region FROM t f LEFT JOIN u c ON f.id = c.id")
GROUPED = analysed("SELECT f.d, c.region, median(f.v) AS m FROM t f JOIN u c ON f.id = c.id GROUP BY f.d, c.region")
EU = TupleDomain.where({ColumnKey("region"): Domain.of("EU")})
_DAYS = change([partition_rows([("identity", "d")], (day,)) for day in range(5)])
APPENDED = replace(_DAYS, appended_since=1, appended_rows=70)
OF_EU = change([partition_rows([("identity", "region")], ("EU",))])


def stale(facts: TableChange, others: TableChange = OF_EU, index: int = 0) -> MaterializedViewStatus:
    """Return the status of two tables, of which the facts have this place in the text."""
    return status(sized(facts, MANY, "t", index), sized(others, MANY, "u", 1 - index))


@pytest.mark.parametrize("definition", [JOINED, UNTRACKED])
@pytest.mark.parametrize("request_", [REQUEST, replace(REQUEST, policy="incremental")])
def test_new_rows_are_added_outside_of_what_the_others_reach(definition: ViewDefinition, request_: PlanRequest) -> None:
    plan = plan_refresh(definition, stale(APPENDED), request_)
    assert isinstance(plan, Overwrite)
    assert [set(rows.domains) for rows in plan.region] == [{ColumnKey("region")}]
    assert [(delta.changed, delta.since, delta.appended) for delta in plan.added] == [(0, 1, True)]
    assert plan.reason == "t: 70 rows appended; u: 1 partition changed"
    assert references_to_ask(definition, stale(APPENDED), request_) == ToAsk()


@pytest.mark.parametrize(("definition", "index", "before"), [(JOINED, 0, {1: 1}), (REVERSED, 1, {})])
def test_tables_behind_it_in_the_text_are_read_as_they_were(
    definition: ViewDefinition, index: int, before: dict[int, int]
) -> None:
    plan = plan_refresh(definition, stale(APPENDED, index=index), REQUEST)
    assert isinstance(plan, Overwrite)
    assert plan.added == (Delta(index, 1, before, frozenset(), touched=plan.added[0].touched),)


def test_where_the_others_reach_nothing_rows_are_only_added() -> None:
    files = change([EU], unit="file")
    plan = plan_refresh(UNTRACKED, stale(APPENDED, files), replace(REQUEST, answers={1: ()}))
    assert isinstance(plan, Append)
    assert [delta.changed for delta in plan.deltas] == [0]


def test_a_table_whose_new_rows_do_not_add_up_is_one_of_the_others() -> None:
    """New rows of the supplied side of a join change rows that are there."""
    new = change([partition_rows([("identity", "id")], (5,))])
    both = stale(APPENDED, replace(new, appended_since=1, appended_rows=3))
    assert references_to_ask(UNTRACKED, both, REQUEST) == ToAsk(needed=(1,))
    plan = plan_refresh(UNTRACKED, both, replace(REQUEST, answers={1: (EU,)}))
    assert isinstance(plan, Overwrite)
    assert plan.region == (EU,)
    assert [delta.changed for delta in plan.added] == [0]


@pytest.mark.parametrize(
    ("definition", "facts", "request_"),
    [
        (JOINED, _DAYS, REQUEST),
        (GROUPED, APPENDED, REQUEST),
        (JOINED, APPENDED, replace(REQUEST, appends=False)),
        (JOINED, APPENDED, replace(REQUEST, changed_nearly_everywhere=frozenset([FACTS, ("lake", "ns", "u")]))),
    ],
)
def test_else_so_much_is_computed_anew(definition: ViewDefinition, facts: TableChange, request_: PlanRequest) -> None:
    plan = plan_refresh(definition, stale(facts), request_)
    assert isinstance(plan, Full)
    assert plan.reason.startswith("cheaper than an overwrite of nearly everything")


def test_a_few_partitions_with_new_rows_are_replaced() -> None:
    plan = plan_refresh(JOINED, stale(APPENDED), PlanRequest("auto"))
    assert isinstance(plan, Overwrite)
    assert plan.added == ()
