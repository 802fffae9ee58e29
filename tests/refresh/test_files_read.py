"""A refresh reads no manifest and no manifest list twice: on an object store each read is a round trip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.avro.file import AvroFile

from tests.refresh.refreshes import SCENARIOS, Stage
from tests.support.recording_spark import RecordingSpark
from tests.support.shares import one_of


@pytest.mark.parametrize(
    "name", one_of(2, ["overwrite_replace_where", "overwrite_join", "append", "merge", "full", "no_op"])
)
def test_no_file_is_read_twice(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    enter = AvroFile.__enter__

    def noted(self: AvroFile[Any]) -> AvroFile[Any]:
        read.append(self.input_file.location)
        return enter(self)

    def by_others(work: Callable[..., Any]) -> Callable[..., Any]:
        """Return the work, of which nothing is noted."""

        def run(*arguments: Any) -> Any:
            before = len(read)
            done = work(*arguments)
            del read[before:]
            return done

        return run

    stage, scenario = Stage(tmp_path), SCENARIOS[name]
    monkeypatch.setattr(AvroFile, "__enter__", noted)
    monkeypatch.setattr(RecordingSpark, "__call__", by_others(RecordingSpark.__call__))
    result, _ = stage.play(replace(scenario, change=by_others(scenario.change)))
    stage.close()
    assert result.kind == scenario.kind
    assert read
    assert sorted(read) == sorted(set(read))
