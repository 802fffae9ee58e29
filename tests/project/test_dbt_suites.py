"""Every class of dbt's suites that has tests is run in integration/dbt, or is excluded there with a reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from integration.dbt.exclusions import EXCLUDED, EXCLUDED_SUITES
from tests.support.dbt_suites import collected, folders, inherited_tests, offered, own_tests, run, suite

PAGE = Path(__file__).parents[2] / "docs" / "dbt-suites.md"
UPDATE = "UPDATE_GOLDEN"


def test_no_class_is_missing() -> None:
    assert offered() - run() - EXCLUDED.keys() == set()


def test_no_class_is_both_run_and_excluded() -> None:
    assert run() & EXCLUDED.keys() == set()


def test_every_excluded_class_exists() -> None:
    assert EXCLUDED.keys() - offered() == set()


def test_every_excluded_suite_exists() -> None:
    assert EXCLUDED_SUITES.keys() - folders().keys() == set()


def test_every_exclusion_has_a_reason() -> None:
    reasons = [*EXCLUDED.values(), *EXCLUDED_SUITES.values()]
    assert all(reason.endswith(".") and len(reason) > 20 for reason in reasons)


def test_no_test_of_a_class_is_replaced_or_skipped() -> None:
    for each in collected():
        assert own_tests(each.node) == set(), each.node.name
        assert each.node.decorator_list == [], each.node.name


def test_no_test_hides_another() -> None:
    for each in collected():
        tests = {found for name in each.runs for found in inherited_tests(name, suite()).items()}
        assert len({test for test, _ in tests}) == len(tests), each.node.name


def page() -> Iterator[str]:
    """Yield the lines of the page for people."""
    ran = {folder: sorted(n for n in run() & offered() if suite()[n].folder == folder) for folder in sorted(folders())}
    yield from [
        "# dbt's test suites",
        "",
        "dbt tests adapters with the classes of `dbt-tests-adapter`. Here is which of them this one passes on Spark",
        "and Iceberg, and why it does not run the others. A test holds the page true: no class is left out without a",
        "reason, and no test of a class is skipped or replaced. The tables that a test prepares, and the types that it",
        "expects, are written in Spark's words.",
        "",
        f"{sum(map(len, ran.values()))} classes are run:",
        "",
        "| Suite | Classes |",
        "|---|---|",
        *(f"| {folder} | {', '.join(names)} |" for folder, names in ran.items() if names),
        "",
        f"{len(EXCLUDED)} classes and {len(EXCLUDED_SUITES)} suites are not:",
        "",
        "| Suite | Class | Why |",
        "|---|---|---|",
        *(f"| {name} | all | {reason} |" for name, reason in sorted(EXCLUDED_SUITES.items())),
        *(f"| {suite()[name].folder} | {name} | {reason} |" for name, reason in sorted(EXCLUDED.items())),
    ]


def test_the_page_says_so() -> None:
    text = "\n".join(page()) + "\n"
    if UPDATE in os.environ:
        PAGE.write_text(text)
    assert PAGE.read_text() == text
