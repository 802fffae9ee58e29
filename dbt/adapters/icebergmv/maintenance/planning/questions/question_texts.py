"""The texts of questions: the SELECT of a view, or a part of it, over the changed rows of one of its tables.

While one reference is asked, those before it are read as they are now, and those after it as they were. Their order is
that of the view's text, for copies and parts of it too: references of one view may be asked in several texts, and all
have to be the same steps from the old rows to the new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.asking.moved_values import MovedTerm
from dbt.adapters.icebergmv.maintenance.definition.asking.parts import Part
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import part_of, splice
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import is_compared_behind
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import read_pinned
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import (
    RowChanges,
    before_change,
    changed_rows,
    compared_rows,
)
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus, by_reference
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables, IcebergSource

A_ROW = "SELECT 1 AS icebergmv_row"
"""Whether FROM and WHERE give one. Where what is asked still reads a row around its SELECT, Spark refuses to say it."""

_Version: TypeAlias = Literal["now", "before", "changed", "passing", "both"]
_Texts: TypeAlias = Mapping[TableReference, str]


@dataclass(frozen=True)
class QuestionTexts:
    """What can be asked of a text whose base tables have a status. References are those of the asked text."""

    definition: ViewDefinition
    asked: Asked
    bases: BaseTables
    status: MaterializedViewStatus

    @cached_property
    def stale(self) -> Mapping[int, BaseTableStatus]:
        """Return the base table of each reference whose table changed."""
        by_origin = by_reference(self.status.stale)
        return {copy: by_origin[origin] for copy, origin in self.asked.origins.items() if origin in by_origin}

    @property
    def as_now(self) -> str:
        """Return the text over the tables as they are now."""
        return splice(
            self.asked.sql, {r: read_pinned(r, source, None, self._dialect) for r, source in self._sources.items()}
        )

    def over_changed_rows(self, index: int, *, that_pass: bool = False) -> str | None:
        """Return the definition over the changed rows of a reference; None where these cannot be read.

        `that_pass`: over those alone that pass FROM and WHERE around it, where to see which these are takes less time
        than to compare all rows. Nothing comes of the others, before or after the change, so the result is the same
        without them, whatever else is edited or read as empty.
        """
        reach = self.asked.reach[index]
        texts = self._texts(index, "passing" if that_pass else "changed", reach.emptied)
        return None if texts is None else splice(self.asked.sql, texts, reach.edits)

    def of_block(self, index: int, *, first: bool = False) -> str | None:
        """Return FROM and WHERE around a reference, over its changed rows; None where they cannot be asked alone.

        What is asked `first` has no subquery in its WHERE; None where the whole has none either. Where rows are
        compared with what they were, that is done behind WHERE, which mostly leaves few of them.
        """
        block = self._without_subqueries(index) if first else self.asked.blocks.get(index)
        if block is None:
            return None
        compared = self._compared_behind(index, block)
        texts = self._texts(index, "changed" if compared is None else "both")
        if texts is None:
            return None
        with_, text = self._part(block, texts)
        differing = "" if compared is None or block.name is None else f" {compared.differing_under(block.name)}"
        return f"{with_}{A_ROW} {text}{differing}"

    def read_by_subqueries(self, index: int) -> tuple[BaseTableStatus, ...]:
        """Return the tables that subqueries read which are left out of what is asked `first` (see `of_block`)."""
        block, bases = self._without_subqueries(index), self.status.by_reference
        left_out = () if block is None else block.left_out
        inside = (r for r in self.asked.references if any(e.start <= r.start < e.end for e in left_out))
        return tuple(bases[origin] for r in inside if (origin := self.asked.origins[r.index]) in bases)

    def of_subquery(self, subquery: Part, index: int) -> tuple[str, str] | None:
        """Return a scalar subquery over a reference as it is now and as it was; None where that cannot be read."""
        now, before = self._texts(index, "now"), self._texts(index, "before")
        if now is None or before is None:
            return None
        (with_now, text_now), (with_before, text_before) = self._part(subquery, now), self._part(subquery, before)
        return f"({with_now}{text_now})", f"({with_before}{text_before})"

    def between_values(self, index: int, moved: MovedTerm, now: str, before: str) -> str | None:
        """Return the definition over the rows for which a term is true with one of two values of its subquery alone.

        The values are SQL. All other references are read as while this one is asked.
        """
        texts = self._texts(index, "now", self.asked.reach[index].emptied)
        if texts is None:
            return None
        return splice(self.asked.sql, texts, (*moved.edits, moved.difference(self.asked.sql, texts, now, before)))

    def changed_rows(self, index: int) -> str | None:
        """Return the rows of a reference that changed, in its place; None where they cannot be read."""
        return self._changed_rows(self.asked.references[index], index)

    def changed_rows_of_table(self, index: int) -> str | None:
        """Return the same under the name of the first reference to the table, for all of these one text."""
        return self._changed_rows(self.definition.references[self.stale[index].references[0]], index)

    def is_read_by_a_part(self, index: int) -> bool:
        """Return whether FROM and WHERE around a reference read less than the whole text does."""
        block = self.asked.blocks.get(index)
        return block is not None and any(not block.start <= r.start < block.end for r in self.asked.references)

    def count_places(self, base: BaseTableStatus) -> int:
        """Return in how many ways the SELECTs read a table: copies of one read it in the same way."""
        copies = [copy for origin in base.references for copy in self.asked.copies_of(origin)]
        blocks = [(copy, self.asked.blocks.get(copy)) for copy in copies]
        return len({copy if b is None else self.asked.sql[b.start : b.end] for copy, b in blocks})

    def _texts(self, asked: int, wanted: _Version, emptied: Collection[int] = ()) -> _Texts | None:
        """Return what stands for each reference while one is asked; None if one of them cannot be read."""
        texts = {r: self._read(r, source, asked, wanted, emptied) for r, source in self._sources.items()}
        read = {reference: text for reference, text in texts.items() if text is not None}
        return read if len(read) == len(texts) else None

    @cached_property
    def _sources(self) -> Mapping[TableReference, IcebergSource]:
        """Return the references that are read at a snapshot, with their sources."""
        return self.bases.sources(self.asked.references)

    @property
    def _dialect(self) -> Dialect:
        return Dialect(self.bases.catalog_name, pushable=False)

    def _read(
        self, reference: TableReference, source: IcebergSource, asked: int, wanted: _Version, emptied: Collection[int]
    ) -> str | None:
        """Return what stands for a reference while another, or the same, is asked; None if it cannot be read.

        Of the one that is asked, `wanted` is read.
        """
        if reference.index == asked and wanted in ("changed", "passing"):
            passing = self._that_pass(asked) if wanted == "passing" else None
            return self.changed_rows(asked) if passing is None else passing
        if reference.index == asked and wanted == "both":
            compared = self._compared_rows(asked)
            return None if compared is None else compared.both_versions(self._dialect)
        if reference.index in emptied:
            return read_pinned(reference, source, (), self._dialect)
        is_now = wanted == "now" if reference.index == asked else self.step(reference.index) < self.step(asked)
        if is_now or reference.index not in self.stale:
            return read_pinned(reference, source, None, self._dialect)
        before = before_change(self.stale[reference.index], source)
        return None if before is None else read_pinned(reference, before, None, self._dialect)

    def step(self, index: int) -> tuple[int, int]:
        """Return the place of a reference in the order in which they are asked; the clock comes first."""
        return self.asked.origins.get(index, index), index

    def _changed_rows(self, named: TableReference, index: int) -> str | None:
        now = self.bases.of(self.asked.references[index]).source
        return None if now is None else changed_rows(self.definition, named, self.stale[index], now, self._dialect)

    def _without_subqueries(self, index: int) -> Part | None:
        """Return FROM and WHERE around a reference without subqueries in WHERE; None where there are none."""
        block = self.asked.blocks.get(index)
        return replace(block, left_out=block.left_out_first) if block is not None and block.left_out_first else None

    def _that_pass(self, index: int) -> str | None:
        """Return the changed rows of a reference that pass FROM and WHERE around it, in its place.

        None where rows are not compared behind these.
        """
        block = self._without_subqueries(index) or self.asked.blocks.get(index)
        if block is None or block.name is None:
            return None
        compared, texts = self._compared_behind(index, block), self._texts(index, "both")
        if compared is None or texts is None:
            return None
        with_, read = self._part(block, texts)
        return compared.each_once_of(with_, read, block.name)

    def _compared_behind(self, index: int, block: Part) -> RowChanges | None:
        """Return the versions to compare behind a WHERE; None where the changed rows are what it is asked over.

        Nothing in FROM and WHERE may see the sign that both versions have beside their columns.
        """
        read = (r for r in self.asked.references if block.start <= r.start < block.end or r.start < block.with_end)
        beside = [r for r in read if r.index != index]
        origins, bases = (self.asked.origins[r.index] for r in beside), self.status.by_reference
        joined = [bases[origin] for origin in origins if origin in bases]
        is_seen = block.name is None or SIGN in self.definition.mentions
        if is_seen or not block.filters or not is_compared_behind(self.stale[index], joined):
            return None
        return self._compared_rows(index)

    def _compared_rows(self, index: int) -> RowChanges | None:
        reference = self.asked.references[index]
        now = self.bases.of(reference).source
        return None if now is None else compared_rows(self.definition, reference, self.stale[index], now)

    def _part(self, part: Part, texts: _Texts) -> tuple[str, str]:
        """Return the WITH that a part of the text needs, and the part, with what stands for the references in them."""
        sql = self.asked.sql
        return part_of(sql, texts, 0, part.with_end), part_of(sql, texts, part.start, part.end, part.left_out)
