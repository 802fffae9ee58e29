"""Functions that are not Spark's own, and those of them that the model says are deterministic."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse, at_moment
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import deterministic_functions
from tests.support.rule_tables import columns_of

NOT_NAMED = "{}() is a user-defined function, and deterministic_functions does not name it"
NOT_OF_A_ROW = "{}() is a user-defined function of many rows, or of many values"


def analysed(sql: str, *names: str) -> ViewDefinition:
    given = Known("ns", session_is_utc=True, deterministic_functions=frozenset(deterministic_functions(list(names))))
    return analyse(given, sql, columns_of)


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("f(v)", "f"),
        ("F(v)", "f"),
        ("f(v)", "F"),
        ("`f`(v)", "f"),
        ("f()", "f"),
        ("f(f(v))", "f"),
        ("f(v).field", "f"),
        ("upper(f(v))", "f"),
        ("s.f(v)", "s.f"),
        ("c.s.f(v)", "C.S.F"),
        ("`c`.`s-1`.`f`(v)", "c.`s-1`.f"),
        ("s.upper(v)", "s.upper"),
        ("case when f(v) then 1 end", "f"),
        ("count(*) OVER (PARTITION BY f(v) ORDER BY f(id))", "f"),
        ("sum(v) FILTER (WHERE f(v)) OVER (PARTITION BY d)", "f"),
        ("transform(array(v), x -> f(x))", "f"),
    ],
)
def test_a_function_is_named_as_it_is_called(called: str, name: str) -> None:
    sql = f"SELECT d, {called} AS x FROM t"
    assert "deterministic_functions" in str(analysed(sql).always_full)
    assert "deterministic_functions" in str(analysed(sql, "g", "s.g", f"x.{name}").always_full)
    found = analysed(sql, name)
    assert (found.always_full, found.full_when_changed, found.depends_on_order) == (None, None, None)
    assert found.calls_user_functions


@pytest.mark.parametrize(
    "sql",
    ["SELECT my_function(region) AS m FROM t GROUP BY region", "SELECT id, my_function(now()) AS loaded_at FROM t"],
)
def test_what_is_asked_of_a_function_without_a_name_is_not_relied_on(sql: str) -> None:
    clock: Clock = {"date": "2024-01-01", "timestamp": "2024-01-01 10:00:00Z", "timestamp_ntz": "2024-01-01 10:00:00"}
    for named in (False, True):
        written = analysed(sql, *["my_function"] * named)
        now = at_moment(written, columns_of, clock, ["loaded_at"])
        assert (now.always_full is None) == named
        assert named or now.always_full == NOT_NAMED.format("my_function")


def test_every_function_is_to_be_named() -> None:
    sql = "SELECT d, f(g(v)) AS x FROM t WHERE h(v)"
    for missing in "fgh":
        assert analysed(sql, *{"f", "g", "h"} - {missing}).always_full == NOT_NAMED.format(missing)
    assert analysed(sql, "f", "g", "h").always_full is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT f(DISTINCT v) AS x FROM t",
        "SELECT f(*) AS x FROM t",
        "SELECT f(t.*) AS x FROM t",
        "SELECT f(v) FILTER (WHERE v > 1) AS x FROM t",
        "SELECT f(v) WITHIN GROUP (ORDER BY v) AS x FROM t",
        "SELECT d, f(v) OVER (PARTITION BY d) AS x FROM t",
        "SELECT d, f(v) IGNORE NULLS OVER (PARTITION BY d ORDER BY v) AS x FROM t",
        "SELECT f(v) AS (x, y) FROM t",
        "SELECT d, x FROM t LATERAL VIEW f(v) AS x",
        "SELECT d, x FROM t, LATERAL f(v) AS e(x)",
        "SELECT 1 AS x FROM f(3)",
    ],
)
def test_what_cannot_be_of_one_row_is_refreshed_in_full(sql: str) -> None:
    assert analysed(sql, "f").always_full == NOT_OF_A_ROW.format("f")


def test_one_that_has_the_name_of_an_aggregate_is_none() -> None:
    assert analysed("SELECT d, s.sum(v) AS x FROM t", "s.sum").always_full == NOT_OF_A_ROW.format("s.sum")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT d, f(v) + rand() AS x FROM t", "rand() gives a new value at every run"),
        ("SELECT d, countif(v) AS x FROM t", "countif() is a user-defined function with the name of one that other"),
        ("SELECT d, f(nowhere) AS x FROM t", "nowhere is no column of a table that it reads"),
        ("SELECT d, f(v) AS x FROM t LIMIT 3", None),
    ],
)
def test_other_reasons_stay(sql: str, reason: str | None) -> None:
    found = analysed(sql, "f", "countif", "parse_ip")
    if reason is None:
        assert found.full_when_changed == "LIMIT may pick other rows at the next evaluation"
    else:
        assert str(found.always_full).startswith(reason)


def test_nothing_but_the_function_is_known_of_it() -> None:
    """Groups by what it gives are groups as others are."""
    found = analysed("SELECT d, f(v) AS x, sum(v) AS n FROM t GROUP BY d, f(v)", "f")
    assert found.always_full is None
    assert not found.obstacles


def test_the_clock_may_be_an_argument() -> None:
    clock: Clock = {"date": "2024-01-01"}
    written = analysed("SELECT d, v FROM t WHERE d >= f(current_date)", "f")
    assert written.always_full is not None
    now = at_moment(written, columns_of, clock)
    assert now.always_full is None
    assert now.known.deterministic_functions == {"f"}


def test_the_setting() -> None:
    assert deterministic_functions(None) == deterministic_functions([]) == ()
    assert deterministic_functions("My_F") == ("my_f",)
    assert deterministic_functions(["a.`b`.F", "A.B.f", "g"]) == ("a.b.f", "g")
    for bad in (3, [3], [""], {"f": 1}):
        with pytest.raises(InvalidConfig, match=r"deterministic_functions is .*Give the name of a function"):
            deterministic_functions(bad)
    with pytest.raises(
        InvalidConfig, match=r"deterministic_functions names rand, which is Spark's own\. Take it out\."
    ):
        deterministic_functions(["f", "RAND"])
