"""The current metadata file of a table is the one whose log names all the others, whatever the clock says."""

from __future__ import annotations

import gzip
import json
from typing import Any

from dbt.adapters.icebergmv.maintenance.catalog.over_spark.current_table import current_metadata
from tests.support.bare_tables import bare_table

_EMPTY = json.loads(bare_table("t", {}, [], [1]).metadata.model_dump_json(by_alias=True, exclude_none=True))


class Folder:
    """The metadata files of a table, each with the log of those before it, as commits at these times leave them."""

    def __init__(self, *times: int) -> None:
        self.log = [(f"f{number}", written) for number, written in enumerate(times)]
        self.files = {
            name: self._metadata(written, self.log[:number]) for number, (name, written) in enumerate(self.log)
        }

    def _metadata(self, written: int, before: list[tuple[str, int]]) -> bytes:
        log = [{"metadata-file": name, "timestamp-ms": at} for name, at in before]
        content: dict[str, Any] = {**_EMPTY, "last-updated-ms": written, "metadata-log": log}
        return json.dumps(content).encode()

    def current(self, entries: list[tuple[str, int]] | None = None) -> str | None:
        found = current_metadata(self.log if entries is None else entries, self.files.__getitem__)
        return None if found is None else found[0]


def test_the_newest_is_current() -> None:
    assert Folder(1).current() == "f0"
    assert Folder(1, 2, 3).current() == "f2"


def test_commits_of_one_millisecond_are_told_apart_in_any_order() -> None:
    folder = Folder(1, 5, 5, 5)
    assert folder.current() == "f3"
    assert folder.current(folder.log[::-1]) == "f3"


def test_compressed_metadata_is_read() -> None:
    folder = Folder(1, 2)
    folder.files["f1"] = gzip.compress(folder.files["f1"])
    assert folder.current() == "f1"


def test_a_log_with_an_entry_too_many_or_too_few_proves_nothing() -> None:
    folder = Folder(1, 2, 3)
    assert folder.current(folder.log[1:]) is None
    assert folder.current([("gone", 1), *folder.log]) is None
    assert folder.current([]) is None


def test_another_file_under_the_same_name_proves_nothing() -> None:
    folder = Folder(1, 2)
    folder.files["f1"] = Folder(1, 7).files["f1"]
    assert folder.current() is None
