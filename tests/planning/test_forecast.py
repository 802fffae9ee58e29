"""What a refresh may come to before Spark is asked anything, by what is known of the changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.considered import considered
from dbt.adapters.icebergmv.maintenance.planning.forecast import (
    Forecast,
    certain,
    forecast_of,
    full_for_one_table,
    references_worth_listing,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Full
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import evaluated
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.support.analysis import analysed_in
from tests.support.bases import analysed, change, columns_of, sized, status

DAY = TupleDomain.where({ColumnKey("d"): Domain.of(7)})
ANYWHERE = TupleDomain.all()
AUTO = PlanRequest("auto")
CHANGED = status(sized(change([DAY]), 100))
SOMEWHERE = status(sized(change([ANYWHERE], unit="file"), 100))


def foretold(sql: str, found: MaterializedViewStatus = CHANGED, request: PlanRequest = AUTO) -> Forecast:
    return forecast_of(analysed(sql), found, request)


def verdicts(sql: str, found: MaterializedViewStatus = CHANGED, request: PlanRequest = AUTO) -> dict[str, str]:
    definition = analysed(sql)
    made = (request, forecast_of(definition, found, request))
    return {one.kind: f"{one.verdict}: {one.why}" for one in considered(definition, definition, found, made)}


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT d, sum(v) AS s FROM t GROUP BY d", "overwrite"),
        ("SELECT date_trunc('month', d) AS m, sum(v) AS s FROM t GROUP BY 1", "overwrite"),
        ("SELECT rand() AS r FROM t", "full"),
    ],
)
def test_nothing_is_asked(sql: str, kind: str) -> None:
    found = foretold(sql)
    assert (found.kinds, found.questions) == ((kind,), ())


@pytest.mark.parametrize(
    ("sql", "kinds", "question"),
    [
        ("SELECT region, max(v) AS m FROM t GROUP BY region", ("overwrite", "none", "full"), "the keys of"),
        ("SELECT max(v) AS m FROM t HAVING max(v) > 1", ("full", "none"), "the keys of the changed rows of t"),
        ("SELECT d, v FROM t LIMIT 3", ("full", "none"), "whether a row of t changed"),
        ("SELECT DISTINCT d, max_by(v, id) AS v FROM t GROUP BY d", ("full", "none"), "whether a row of t changed"),
        ("SELECT upper(region) AS r, d + v AS x FROM t", ("overwrite", "none", "full"), "the keys of"),
        ("SELECT dayofweek(d) AS k, max(v) AS m FROM t GROUP BY 1", ("full", "overwrite", "none"), "what dayofweek(d)"),
    ],
)
def test_what_is_asked(sql: str, kinds: tuple[str, ...], question: str) -> None:
    found = foretold(sql)
    assert {*found.kinds} == {*kinds}
    assert any(question in asked for asked in found.questions)


@pytest.mark.parametrize(("rows", "kinds"), [(100, ("overwrite", "none", "full")), (1_000_000, ("full", "none"))])
def test_what_is_too_dear_to_ask_gives_no_keys(rows: int, kinds: tuple[str, ...]) -> None:
    totals = (f"(SELECT count(*) AS n{i} FROM t WHERE v < {i}) q{i}" for i in range(4))
    many = replace(sized(change([DAY]), rows), references=(0, 1, 2, 3))
    found = foretold(f"SELECT * FROM {' CROSS JOIN '.join(totals)}", status(many))
    assert found.kinds == kinds
    (question,) = found.questions
    assert question == ("the keys of the changed rows of t" if rows == 100 else "whether a row of t changed")


def test_where_the_order_of_rows_matters_what_was_asked_in_vain_is_left_out() -> None:
    found = foretold("SELECT d, v FROM t LIMIT 3", request=replace(AUTO, left_out=frozenset(["questions"])))
    assert (found.kinds, found.questions) == (("full",), ())


def test_keys_of_the_changed_rows_themselves_are_never_too_dear() -> None:
    sql = " UNION ALL ".join(f"SELECT DISTINCT region FROM t WHERE v < {i}" for i in range(8))
    many = replace(sized(change([DAY]), 1_000_000), references=tuple(range(8)))
    assert foretold(sql, status(many)).kinds == ("overwrite", "none", "full")


@pytest.mark.parametrize(("rows", "kinds", "listed"), [(4_000_000, ("full",), set()), (100_000, None, {1})])
def test_nothing_is_listed_where_the_refresh_is_full_whatever_it_is(
    rows: int, kinds: tuple[str, ...] | None, listed: set[int]
) -> None:
    """The large table is not asked, however little changed of the small one."""
    definition = analysed("SELECT t.region, max(t.v) AS m FROM t JOIN u ON t.id = u.id GROUP BY t.region")
    large = sized(replace(change([DAY]), changed_rows=rows), 5_000_000)
    both = status(large, sized(replace(change([DAY]), changed_rows=500), 1_000, "u", 1))
    assert references_worth_listing(definition, both, AUTO) == listed
    found = forecast_of(definition, both, AUTO)
    assert kinds is None or (found.kinds, found.questions) == (kinds, ())


JOINED = "SELECT t.region, max(t.v) AS m FROM t JOIN u ON t.id = u.id GROUP BY t.region"
DEAR = sized(replace(change([ANYWHERE], unit="file"), changed_rows=2_000_000), 3_000_000)
CHEAP = sized(replace(change([DAY]), changed_rows=500), 1_000_000, "u", 1)
LITTLE = sized(replace(change([DAY]), changed_rows=500), 3_000_000)
NOT_ASKED = (
    "t changed and its changed rows are not asked: that would read more than half as many rows as everything has"
)


def test_one_table_makes_the_refresh_full_whatever_others_reach() -> None:
    definition, both = analysed(JOINED), status(DEAR, CHEAP)
    found = full_for_one_table(definition, both, AUTO)
    assert found is not None
    assert found.reason == NOT_ASKED
    assert forecast_of(definition, both, AUTO) == Forecast(found, ("full",))


@pytest.mark.parametrize(
    ("sql", "found", "request_"),
    [
        pytest.param(JOINED, status(CHEAP), AUTO, id="asked"),
        pytest.param(JOINED, status(DEAR), AUTO, id="nothing else to ask"),
        pytest.param(JOINED, status(DEAR, replace(CHEAP, change=change(status="fresh"))), AUTO, id="no other one"),
        pytest.param(JOINED, status(DEAR, CHEAP), PlanRequest("incremental"), id="asked whatever it costs"),
        pytest.param(JOINED, status(DEAR, CHEAP), PlanRequest("full"), id="full for another reason"),
        pytest.param(JOINED.replace("max", "sum"), status(LITTLE, CHEAP), replace(AUTO, merges=True), id="merged"),
        pytest.param(f"{JOINED} LIMIT 3", status(DEAR, CHEAP), AUTO, id="full for all tables"),
    ],
)
def test_no_table_alone_makes_the_refresh_full(sql: str, found: MaterializedViewStatus, request_: PlanRequest) -> None:
    assert full_for_one_table(analysed(sql), found, request_) is None


def test_a_zone_that_is_known_leaves_nothing_open() -> None:
    """A column follows the clocks of a zone; nearly all rows of one table changed."""
    sql = "SELECT to_date(t.ts) AS day, max(t.v) AS m FROM t JOIN u ON t.id = u.id GROUP BY 1"
    definition = analysed_in(sql, "ns", columns_of, session_is_utc=False)
    everywhere = TupleDomain.where({ColumnKey("ts"): Domain.of(5)})
    both = status(sized(replace(change([everywhere]), changed_rows=2_900_000), 3_000_000), CHEAP)
    request = replace(AUTO, changed_nearly_everywhere=frozenset([("lake", "ns", "t")]))
    assert full_for_one_table(definition, both, request) is None
    in_zone = evaluated(definition, both, lambda _: [(-10_000, 3_600_000_000)])
    found = full_for_one_table(in_zone, both, request)
    assert found is not None
    assert found.reason == "cheaper than an overwrite of nearly everything (t: 1 partition changed)"


def test_what_did_not_pay_lately_is_counted_where_it_is_left_out() -> None:
    """It would be left out for ever where nothing counts how often it was."""
    definition, both = analysed(JOINED), status(LITTLE, CHEAP)
    left_out = replace(AUTO, left_out=frozenset(["questions"]))
    assert forecast_of(definition, both, left_out).kinds == ("full",)
    assert full_for_one_table(definition, both, left_out) is None


def test_the_clock_is_not_asked_where_a_table_makes_the_refresh_full() -> None:
    moved = ClockChange({"date": "2024-01-01"}, {"date": "2024-01-02"})
    full = full_for_one_table(analysed(JOINED), replace(status(DEAR), clock=moved), AUTO)
    assert full is not None
    assert full.reason == NOT_ASKED


def test_groups_may_be_merged_or_not() -> None:
    sql = "SELECT region, sum(v) AS s FROM t GROUP BY region"
    found = foretold(sql, SOMEWHERE, replace(AUTO, merges=True))
    assert found.kinds == ("merge", "overwrite", "none", "full")
    assert "if groups cannot be merged" in found.questions[0]
    assert "merge" not in foretold(sql, SOMEWHERE).kinds


def test_rows_below_that_no_key_follows_are_not_merged() -> None:
    sql = "SELECT n, count(*) AS c FROM (SELECT {} FROM (SELECT v, count(*) AS n FROM t GROUP BY v) q) p GROUP BY n"
    merging = replace(AUTO, merges=True)
    assert foretold(sql.format("n, v"), request=merging).kinds[0] == "merge"
    assert foretold(sql.format("n"), request=merging).kinds == ("full", "none")


def test_the_clock_is_asked_first() -> None:
    moved = ClockChange({"date": "2024-01-01"}, {"date": "2024-01-02"})
    found = status(sized(change(status="fresh"), 100))
    on_the_clock = replace(found, clock=moved)
    elsewhere = foretold("SELECT d FROM t", on_the_clock)
    assert elsewhere.kinds == ("overwrite", "none", "full")
    assert "the date moved" in elsewhere.questions[0]


def test_what_is_certain() -> None:
    assert certain(Full("why")) == Forecast(Full("why"), ("full",))


def test_what_speaks_against_the_others() -> None:
    found = verdicts("SELECT d, sum(v) AS s FROM t GROUP BY d")
    assert found == {
        "overwrite": "chosen: t: 1 partition changed",
        "none": "no: t: 1 partition changed",
        "append": "no: rows of t changed or went; new rows of t are not simply new rows of the view",
        "merge": "no: its types are not merged exactly, or the storage table does not keep what that needs",
        "full": "no: what is chosen reads less",
    }


def test_what_speaks_against_parts_of_a_select_that_is_computed_whole() -> None:
    found = verdicts("SELECT d FROM t LIMIT 3")
    assert found["full"] == "perhaps: the likeliest; asked when it runs: whether a row of t changed"
    assert "no change be followed: LIMIT" in found["overwrite"]
    untracked = verdicts("SELECT max(v) AS m FROM t HAVING max(v) > 1")
    assert "t changed and is not tracked through an aggregate over all rows" in untracked["overwrite"]
    assert untracked["full"].startswith("perhaps: the likeliest; asked when it runs: the keys of")
