"""Names of tables and views: always catalog, schema and identifier, always in backticks."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import Policy
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified


@dataclass
class IcebergMVQuotePolicy(Policy):
    """Every part is quoted: Iceberg catalogs keep the case and the odd characters of a name."""

    database: bool = True
    schema: bool = True
    identifier: bool = True


@dataclass
class IcebergMVIncludePolicy(Policy):
    """Every part is written: a stored view must not depend on the session's current catalog or schema."""

    database: bool = True
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class IcebergMVRelation(SparkRelation):
    """A relation in an Iceberg catalog."""

    quote_policy: Policy = field(default_factory=IcebergMVQuotePolicy)
    include_policy: Policy = field(default_factory=IcebergMVIncludePolicy)
    # Renaming works for both; replacing is one atomic commit in Iceberg (CREATE OR REPLACE).
    renameable_relations: frozenset[RelationType] = frozenset({RelationType.Table, RelationType.View})
    replaceable_relations: frozenset[RelationType] = frozenset({RelationType.Table, RelationType.View})

    def __post_init__(self) -> None:
        """Undo dbt-spark's refusal of a database: here it is the catalog."""

    def quoted(self, identifier: str) -> str:
        """Return one name part in backticks, its own backticks doubled."""
        return qualified(identifier)

    def render(self) -> str:
        """Return the full name as SQL."""
        return ".".join(part for _, part in self._render_iterator() if part is not None)

    @property
    def is_catalogued(self) -> bool:
        """Return whether the relation is in a catalog; temporary views have no schema in their name."""
        return bool(self.schema) and self.include_policy.get_part("schema")  # type: ignore[arg-type]
