"""docs/tpch-views.md says what the analysis says now, of every view in examples/tpch/views."""

from __future__ import annotations

from examples.tpch.views_table import HERE, PAGE, SECTIONS, behaviours, page


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m examples.tpch.views_table"


def test_every_view_is_on_the_page_once() -> None:
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(named) == sorted(f.stem for f in (HERE / "views").glob("*.sql"))


def test_views_of_either_kind_are_shown() -> None:
    uses = [use for view in behaviours() for use in view.uses]
    assert {use.table for use in uses if use.obstacle is None} == {use.table for use in uses}
    assert len([use for use in uses if use.is_full]) >= 5
    assert len([use for use in uses if use.obstacle is not None and use.answered]) >= 4
    assert len([use for use in uses if use.by_bounds and use.obstacle is None]) >= 5
    assert len([use for use in uses if use.new_rows_alone]) > 15
