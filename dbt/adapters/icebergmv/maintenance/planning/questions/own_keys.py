"""The output rows that changed rows lead to by their own values, in columns that output columns follow.

No more is read for them than these rows; the definition is not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.catalog.reader import schema_columns
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer, NotListed, values_of
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import image, keeps_values, may_add_null
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier


@dataclass(frozen=True)
class FollowedColumns:
    """The columns of changed rows that output columns follow. `preferred` and `most_of_one` are as in `Questions`."""

    texts: QuestionTexts
    preferred: frozenset[str]
    most_of_one: int

    def own_keys(self, origin: int, run: Asker) -> Answer | None:
        """Return the output rows that columns say which are tracked: those with the values that changed rows have.

        Every output row depends only on base rows that lead to its value of such a column. None where some use of the
        reference has no such column, or its values cannot be listed.
        """
        copies = self.texts.asked.copies_of(origin)
        source = self.texts.bases.of(self.texts.asked.references[copies[0]]).source if copies else None
        changed = None if source is None else self.texts.changed_rows(copies[0])
        if source is None or changed is None:
            return None
        types = {c.name: c.type for c in schema_columns(source.table_schema)}
        keys = [self._key_of(use, types) for use in self.texts.definition.uses_of(origin)]
        followed = [key for key in keys if key is not None]
        if len(followed) < len(keys):
            return None
        values: dict[str, Domain] = {}
        listed = self.texts.stale[copies[0]].listed
        for column in dict.fromkeys(track.column for _, track in followed):
            value = internal_form(types[column], identifier(column))
            if listed is None or column not in listed.domain_columns:
                found = values_of(f"SELECT DISTINCT {value} FROM {changed}", run, self.most_of_one)
            else:
                found = listed.values_of(column)
            if isinstance(found, NotListed):
                return None
            values[column] = found
        regions = [(name, image(track.function, values[track.column])) for name, track in followed]
        return tuple(TupleDomain.where({ColumnKey(name): domain}) for name, domain in regions if not domain.is_none)

    def _key_of(self, use: Occurrence, types: Mapping[str, str]) -> tuple[str, Track] | None:
        """Return the column by which a use of a table is followed best, of those whose values can be listed."""
        tracks = [(k, t) for k, found in self.texts.definition.tracks_of(use).items() for t in found]
        keys = [(k, t) for k, t in tracks if keeps_values(t.function)]
        listed = [(k, t) for k, t in keys if internal_form(types.get(t.column, ""), "") is not None]
        joined = join_keys(self.texts.definition, use.index)

        def order(key: tuple[str, Track]) -> tuple[bool, bool, bool, str]:
            name, track = key
            return may_add_null(track.function), name not in self.preferred, name not in joined, name

        return min(listed, key=order, default=None)


def join_keys(definition: ViewDefinition, origin: int) -> frozenset[str]:
    """Return the columns that follow a reference and others, which it is joined to: few rows have their values."""
    followed = {c.name: {t.occurrence.index for t in c.tracks} for c in definition.columns or ()}
    return frozenset(name for name, found in followed.items() if origin in found and len(found) > 1)
