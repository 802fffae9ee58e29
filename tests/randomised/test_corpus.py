"""The corpus, replayed: the rows are right, and each refresh is of the kind that once went wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.randomised import corpus_files
from tests.randomised.choices import Choices
from tests.randomised.corpus_files import FOLDER, read
from tests.randomised.database import Database
from tests.randomised.histories import make_case, run
from tests.randomised.planners import RIGHT
from tests.randomised.soak import describe, play
from tests.support.shares import one_of

FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("file", one_of(2, FILES), ids=lambda file: file.stem)
def test_history(file: Path, database: Database) -> None:
    kept = read(file)
    failure = play(database, kept.case)
    assert failure is None, f"{kept.because}\n{describe(failure)}"
    assert tuple(refreshed.plan.kind for refreshed in run(database, kept.case, RIGHT)) == kept.kinds
    assert kept.because


def test_a_history_that_is_written_is_read_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_files, "FOLDER", tmp_path)
    for seed in range(30):
        case = make_case(Choices(seed))
        kept = corpus_files.Kept("why", case, ("full",) * len(case.steps))
        again = read(corpus_files.write("a", kept))
        as_bags = [
            [{t: sorted(map(repr, c.after)) for t, c in step.items()} for step in c.steps] for c in (again.case, case)
        ]
        assert as_bags[0] == as_bags[1]
        assert repr(replace(again.case, view=case.view, specs=case.specs, steps=case.steps)) == repr(case)
        assert {t: (s.fields, s.bounds) for t, s in again.case.specs.items()} == {
            t: (s.fields, s.bounds) for t, s in case.specs.items()
        }
