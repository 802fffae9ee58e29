"""A long refresh says how far it is; a short one says nothing."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterable
from itertools import islice

import pytest

from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.progress import Progress, moments, stage_of
from tests.refresh.refreshes import SCENARIOS, Stage

MODEL = contextvars.ContextVar("MODEL", default="none")


def soon() -> Iterable[float]:
    return (0.01, 0.02)


def test_lines_come_ever_more_rarely() -> None:
    assert list(islice(moments(), 9)) == [10, 30, 60, 120, 240, 480, 960, 1560, 2160]


def test_a_long_refresh_says_its_stage_in_the_context_of_its_model() -> None:
    said: list[tuple[str, str]] = []
    enough = threading.Event()

    def say(line: str) -> None:
        said.append((MODEL.get(), line))
        if len(said) == 2:
            enough.set()

    MODEL.set("daily")
    with Progress("lake.a.daily", say, soon) as progress:
        progress.reach("it waits")
        assert enough.wait(10)
    assert said == [("daily", "lake.a.daily, after 0 seconds: it waits")] * 2


def test_the_stage_that_was_reached_last_is_said() -> None:
    said: list[str] = []
    enough = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        enough.set()

    with Progress("v", say, lambda: (0.2,)) as progress:
        progress.reach("first")
        progress.reach("second")
        assert enough.wait(10)
    assert said == ["v, after 0 seconds: second"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_short_refresh_says_nothing_and_leaves_no_thread(fails: bool) -> None:
    said: list[str] = []
    before = threading.active_count()
    try:
        with Progress("v", said.append) as progress:
            progress.reach("it waits")
            if fails:
                raise KeyError
    except KeyError:
        pass
    assert (said, threading.active_count()) == ([], before)


def test_nothing_to_do_starts_no_thread() -> None:
    before = threading.active_count()
    with Progress("v", print):
        assert threading.active_count() == before


@pytest.mark.parametrize(
    ("scenario", "stages"),
    [
        (
            "first_build",
            [
                "it waits for Spark",
                "Spark looks at its columns",
                "its storage table is made",
                "its rows are computed and written",
                "its rows are committed",
                "it is published",
            ],
        ),
        ("overwrite_delete_insert", ["rows that are no longer right are removed", "its rows are computed and written"]),
        ("record_moved", ["it is published"]),
        ("restitch", ["it is published"]),
    ],
)
def test_every_statement_of_a_refresh_has_a_stage(
    tmp_path_factory: pytest.TempPathFactory, scenario: str, stages: list[str]
) -> None:
    stage = Stage(tmp_path_factory.mktemp("stage"))
    _, said = stage.play(SCENARIOS[scenario])
    stage.close()
    assert [s for s in dict.fromkeys(map(stage_of, said)) if s in stages] == stages


def test_what_is_about_the_storage_table_has_a_stage() -> None:
    assert stage_of(statements.drop_branch(("lake", "a", "s"), "b")) == "its storage table is prepared"
