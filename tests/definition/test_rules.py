"""The completeness rules, on pairs of a SELECT and an answer: what tracks which base column, and what cuts."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash, single_statement
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from tests.support.rule_pairs import FIXTURES, MODULES, Pair, all_pairs, shown
from tests.support.rule_tables import analysed

PAIRS = all_pairs()
FOLDERS = ("rules", "tracking")
WITHOUT_PAIRS = {
    *("tracking/tracks", "tracking/findings", "tracking/tracked_relation", "tracking/exactness"),
    *("tracking/written_columns", "rules/answers", "rules/join_answers", "rules/unlisted", "rules/dynamic_filters"),
    *("rules/static_filters", "rules/constant_values"),
}
"""What the rules pass to each other, which every pair is about; the rules of test_reach.py, test_hidden_keys.py,
test_dynamic_filters.py and test_static_filters.py.
"""


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.module}: {pair.sql}")
def test_rule(pair: Pair) -> None:
    if pair.section == "invalid":
        with pytest.raises(InvalidDefinition) as caught:
            analysed(pair.sql)
        assert pair.expected in str(caught.value)
    else:
        assert shown(analysed(pair.sql, utc=pair.section != "other time zone")) == pair.expected


def test_every_rule_has_its_file_and_every_file_its_rule() -> None:
    inits = {f"{folder}/__init__" for folder in FOLDERS}
    rules = {f"{f}/{path.stem}" for f in FOLDERS for path in (MODULES / f).glob("*.py")} - inits - WITHOUT_PAIRS
    files = {f"{f}/{path.stem}" for f in FOLDERS for path in (FIXTURES / f).iterdir()}
    assert files == {*rules, "rules/README"}
    modules = {pair.module for pair in PAIRS}
    assert rules <= modules
    assert [m for m in modules if not (MODULES / f"{m}.py").is_file()] == []


def test_no_pair_is_written_twice() -> None:
    written = [(p.sql, p.section) for p in PAIRS]
    assert sorted({w for w in written if written.count(w) > 1}) == []


@pytest.mark.parametrize("module", sorted({p.module for p in PAIRS}))
def test_the_pairs_of_a_rule_run_its_code(module: str) -> None:
    """Else a pair can be in the wrong file, and a rule without a pair of its own goes unseen."""
    wanted, idle = str(MODULES / f"{module}.py"), []
    for pair in (p for p in PAIRS if p.module == module):
        entered: set[str] = set()

        def note(frame: FrameType, event: str, _: object, entered: set[str] = entered) -> None:
            entered.add(frame.f_code.co_filename if event == "call" else "")

        sys.setprofile(note)
        try:
            analysed(pair.sql, utc=pair.section != "other time zone")
        except InvalidDefinition:
            assert pair.section == "invalid"
        finally:
            sys.setprofile(None)
        idle += [] if wanted in entered else [pair.sql]
    assert idle == []


@pytest.mark.parametrize(
    ("sql", "rewritable"),
    [
        ("SELECT t.d FROM ns.t", True),
        ("SELECT ns.t.d FROM ns.t", False),
        ("SELECT ns.t.s.d FROM ns.t", False),
        ("SELECT d FROM t WHERE v > (SELECT max(ns.u.w) FROM ns.u)", False),
    ],
)
def test_names_with_a_schema_cannot_become_subqueries(sql: str, rewritable: bool) -> None:
    assert analysed(sql).rewritable is rewritable


def test_hash_ignores_white_space_and_comments_only() -> None:
    same = ["SELECT a FROM t", "select  a\nfrom t -- x", "/* y */ SELECT a FROM t"]
    assert definition_hash(same[0]) == definition_hash(same[2])
    others = [
        "SELECT b FROM t",
        "SELECT 'a' FROM t",
        "SELECT a FROM t WHERE x = 'a  b'",
        "SELECT a FROM t WHERE x = 'a b'",
    ]
    assert len({definition_hash(sql) for sql in [same[0], *others]}) == 5


@pytest.mark.parametrize(
    ("sql", "expected"),
    [(" SELECT 1 ; ; \n", "SELECT 1"), ("SELECT ';'", "SELECT ';'"), ("SELECT 1; -- end", "SELECT 1")],
)
def test_single_statement(sql: str, expected: str) -> None:
    assert single_statement(sql) == expected
