"""Which metadata file of a view is its current one.

Spark does not say. It shows what is in that file, but for the version's id, the view's uuid and the default namespace.
The folder of a view holds the files of all its commits, of commits that failed, and of views that had its name before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyiceberg.view.metadata import ViewMetadata

from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import view_info

_SYNTHETIC = {"location", "provider", "format-version"}
_HIDDEN = {"comment", "owner", "create_engine_version", "engine_version", "spark.query-column-names"}
_ENGINE = {"create_engine_version", "engine_version"}
_REDACTED = "*********(redacted)"
_RACE_MS = 60_000


@dataclass(frozen=True)
class ShownView:
    """A view as Spark shows it: `columns` as (name, type, comment); `created` is the text of SHOW CREATE TABLE."""

    created: str
    properties: Mapping[str, str]
    columns: tuple[tuple[str, str, str], ...]
    comment: str


def fits(metadata: ViewMetadata, shown: ShownView) -> bool:
    """Return whether Spark could show this metadata so."""
    info = view_info("", "", metadata)
    columns = tuple((c.name, _shown_type(c.type), c.comment or "") for c in info.columns)
    return (
        metadata.location.rstrip("/") == shown.properties.get("location", "").rstrip("/")
        and _fit_properties(metadata.properties, shown.properties)
        and columns == tuple((name, _shown_type(kind), comment) for name, kind, comment in shown.columns)
        and (info.comment or "") == shown.comment
        and shown.created.endswith(f"\nAS\n{shown_sql(metadata)}\n")
    )


def current_view(fitting: Sequence[ViewMetadata]) -> ViewMetadata | None:
    """Return the current metadata, which is among those that fit what is shown; None where it cannot be proven.

    It is the one that is later than all others which differ from it, and not by the work of a commit that failed.
    """
    # The end of a text may be a SELECT too.
    longest = max((len(shown_sql(m)) for m in fitting), default=0)
    found = [m for m in fitting if len(shown_sql(m)) == longest]
    for metadata in sorted(found, key=lambda m: _last(m)[0], reverse=True):
        if all(_same(metadata, other) or _is_later(metadata, other) for other in found):
            return metadata
    return None


def shown_sql(metadata: ViewMetadata) -> str:
    """Return the SQL that Spark shows: its own, else the first that there is."""
    (current,) = (v for v in metadata.versions if v.version_id == metadata.current_version_id)
    texts = {r.root.dialect: r.root.sql for r in reversed(current.representations)}
    return texts.get("spark", current.representations[0].root.sql if current.representations else "")


def _same(one: ViewMetadata, other: ViewMetadata) -> bool:
    """Return whether it makes no difference which of two is current.

    Of two views with one name, where all but the uuid is the same, one never replaced the other for a reader.
    """
    return _facts(one) == _facts(other)


def _facts(metadata: ViewMetadata) -> object:
    info = view_info("", "", metadata)
    properties = {key: value for key, value in info.properties.items() if key not in _ENGINE}
    # Each attempt of a commit makes its version anew, at a time of its own.
    versions = tuple(replace(version, made_at=0) for version in info.versions)
    return replace(info, uuid="", properties=properties, versions=versions)


def _is_later(metadata: ViewMetadata, other: ViewMetadata) -> bool:
    """Return whether a commit after `other` is proven.

    A commit that failed is one step from the current metadata. So two steps in the log of one view prove that the
    first was committed. A view that begins after the end of another was made when that was gone, unless both were made
    at the same time and one of them failed.
    """
    log = [(entry.timestamp_ms, entry.version_id) for entry in metadata.version_log]
    end = _last(other)
    later = log[log.index(end) + 1 :] if end in log else [entry for entry in log if entry[0] > end[0]]
    if metadata.view_uuid == other.view_uuid or len(later) < len(log):
        return len(later) >= 2
    return bool(log) and (len(other.version_log) > 1 or log[0][0] - end[0] > _RACE_MS)


def _last(metadata: ViewMetadata) -> tuple[int, int]:
    log = metadata.version_log
    return (log[-1].timestamp_ms, log[-1].version_id) if log else (0, 0)


def _fit_properties(stored: Mapping[str, str], shown: Mapping[str, str]) -> bool:
    visible = {key: value for key, value in stored.items() if key not in _HIDDEN | _SYNTHETIC}
    rest = {key: value for key, value in shown.items() if key not in _HIDDEN | _SYNTHETIC}
    return visible.keys() == rest.keys() and all(
        value == visible[key] or value == _REDACTED for key, value in rest.items()
    )


def _shown_type(kind: str) -> str:
    return re.sub(r"\bunknown\b", "void", kind)
