"""The models of the project as operations see them: which there are, and their SELECT, compiled without a query."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.sql.names import TableName

MATERIALIZED_VIEW = "materialized_view"
_QUERIED = frozenset(["table", "view", "incremental", MATERIALIZED_VIEW, "ephemeral"])


@dataclass(frozen=True)
class ProjectModel:
    """A model: dbt's node, the name of its relation, and how it is materialized."""

    node: Any
    relation: TableName
    materialized: str

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return str(self.node.name)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what people call it."""
        return (self.name, str(self.node.alias), ".".join(self.relation[1:]), ".".join(self.relation))


def models_of(manifest: Any) -> tuple[ProjectModel, ...]:
    """Return the SQL models of a manifest that have a relation, in the order of their relations."""
    found = (
        ProjectModel(node, (str(node.database), str(node.schema), str(node.alias)), str(node.config.materialized))
        for node in manifest.nodes.values()
        if str(node.resource_type) == "model" and str(node.language) == "sql" and node.config.enabled
    )
    return tuple(sorted((m for m in found if m.materialized in _QUERIED), key=lambda m: m.relation))


def schemas_of(manifest: Any) -> dict[str, set[str]]:
    """Return the schemas, by catalog, that the project builds anything in."""
    found: dict[str, set[str]] = {}
    for node in manifest.nodes.values():
        if str(node.resource_type) in ("model", "seed", "snapshot") and node.config.enabled:
            found.setdefault(str(node.database), set()).add(str(node.schema))
    return found


def relations_of(manifest: Any) -> frozenset[TableName]:
    """Return the tables and views that the project builds or reads as sources."""
    nodes = [n for n in manifest.nodes.values() if str(n.resource_type) in ("model", "seed", "snapshot")]
    built = [n for n in nodes if n.config.enabled and str(n.config.materialized) != "ephemeral"]
    names = [(n.database, n.schema, n.alias) for n in built]
    names += [(s.database, s.schema, s.identifier) for s in manifest.sources.values()]
    return frozenset((str(database), str(schema), str(name)) for database, schema, name in names)


def storage_schemas_of(manifest: Any) -> dict[str, set[str]]:
    """Return the schemas, by catalog, that the project builds anything in, storage tables included."""
    found = schemas_of(manifest)
    for model in models_of(manifest):
        storage_schema = model.node.config.get("storage_schema")
        if model.materialized == MATERIALIZED_VIEW and storage_schema:
            found[model.relation[0]].add(str(storage_schema))
    return found


def built_first(manifest: Any, node: Any, is_changed: Callable[[str], bool]) -> tuple[TableName, ...]:
    """Return the relations that the model reads and whose rows a `dbt run` may change before it comes to the model.

    Ephemeral models and plain views have no rows of their own: what they read counts. So does a plain view itself if
    the run gives it another SELECT, which `is_changed` says of the id of its node.
    """
    found: dict[TableName, None] = {}
    for name in node.depends_on.nodes:
        other = manifest.nodes.get(name)
        if other is None or str(other.resource_type) != "model":
            continue
        materialized = str(other.config.materialized)
        if materialized in ("ephemeral", "view"):
            found.update(dict.fromkeys(built_first(manifest, other, is_changed)))
        if materialized not in ("ephemeral", "view") or (materialized == "view" and is_changed(name)):
            found[(str(other.database), str(other.schema), str(other.alias))] = None
    return tuple(found)


def views_below(manifest: Any) -> Callable[[str], frozenset[TableName]]:
    """Return what says, of the id of a node, which materialized views are below it, near or far."""

    @cache
    def below(unique_id: str) -> frozenset[TableName]:
        found: set[TableName] = set()
        for name in manifest.nodes[unique_id].depends_on.nodes:
            other = manifest.nodes.get(name)
            if other is None or str(other.resource_type) not in ("model", "snapshot"):
                continue
            if str(other.config.materialized) == MATERIALIZED_VIEW:
                found.add((str(other.database), str(other.schema), str(other.alias)))
            found |= below(name)
        return frozenset(found)

    return below


def wanted_names(select: object) -> tuple[str, ...]:
    """Return the names in `select`: a text of one or several, or a list; none means all. Raises InvalidConfig."""
    if select is None:
        return ()
    texts = [select] if isinstance(select, str) else select
    if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) for t in texts):
        raise InvalidConfig(f"select is {select!r}. Give the name of a model, or a list of names.")
    return tuple(name for text in texts for name in text.replace(",", " ").split())


def is_wanted(names: Iterable[str], wanted: Sequence[str]) -> bool:
    """Return whether one of the names is wanted, all if none is given; `*` stands for any text."""
    return not wanted or any(fnmatchcase(name, pattern) for name in names for pattern in wanted)


def unmatched(models: Iterable[Sequence[str]], wanted: Sequence[str]) -> Iterator[str]:
    """Yield what is wanted and is the name of nothing."""
    known = [name for names in models for name in names]
    yield from (pattern for pattern in wanted if not any(fnmatchcase(name, pattern) for name in known))


def like(models: Iterable[Sequence[str]], name: str) -> str:
    """Return the end of a sentence that says which name of a model, or of another thing, is written nearly so."""
    near = difflib.get_close_matches(name, [known for names in models for known in names], n=1)
    return f", such as {near[0]}" if near else ""


def compiled_sql(config: Any, manifest: Any, model: ProjectModel) -> str:
    """Return the SELECT of a model as a run compiles it for a materialized view; nothing is written.

    Raises dbt's errors of Jinja, and those of queries that the model makes while it is compiled.
    """
    from dbt.compilation import Compiler  # noqa: PLC0415 - dbt loads adapters before it

    node = copy.deepcopy(model.node)
    # What the model says of its own table, as `is_incremental()` does, is not so of a view.
    node.config.materialized = MATERIALIZED_VIEW
    return str(Compiler(config).compile_node(node, manifest, write=False).compiled_code or "")


def as_run_sees_it(model: ProjectModel) -> Mapping[str, Any]:
    """Return the model as the materialization gets it."""
    found: Mapping[str, Any] = model.node.to_dict(omit_none=True)
    return found
