"""The whole life of materialized views through dbt alone, for any connection and any catalog.

It asks nothing of Spark but through the adapter. Each catalog wants a Spark with its own jars, so a process of its own
runs it: `python -m integration.support.life_cycle <file of a target in JSON> <folder of the project> <layout>`,
with the names of steps behind it where not all of them are wanted. The layout is `view` or `table`, or `only tables` of
a catalog without views, where models do not say it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbt.adapters.factory import get_adapter_by_type
from pyspark.sql import Row

from integration.support.lake import LakeProject

KIND = {"refresh_policy": "incremental"}
"""The tables are too small for the cheapest plan to be an incremental one."""


class Project(LakeProject):
    """A project whose statements go through the adapter that its last dbt command made.

    `layout` is that of its materialized views. It is left out of their configuration where the catalog chooses it.
    """

    def __init__(self, folder: Path, target: dict[str, Any], layout: str = "view") -> None:
        super().__init__(folder, target)
        self.are_views = layout == "view"
        self._common = {"layout": layout} if layout == "table" else {}

    def model(self, name: str, sql: str, **config: Any) -> None:
        super().model(name, sql, **self._common, **config)

    @contextmanager
    def adapter(self) -> Iterator[Any]:
        """Give the adapter with an open connection of the calling thread."""
        adapter = get_adapter_by_type("icebergmv")  # type: ignore[no-untyped-call]
        with adapter.connection_named("life cycle"):
            yield adapter

    def runner(self) -> Callable[[str], list[Row]]:
        return self._executed

    def _executed(self, statement: str) -> list[Row]:
        with self.adapter() as adapter:
            _, table = adapter.execute(statement, fetch=True)
        return [Row(*row) for row in table.rows]

    def names(self) -> dict[str, str]:
        """Return what the catalog has in the schema, with its kind."""
        with self.adapter() as adapter:
            return {entry.name: entry.kind for entry in adapter.catalog_reader_of(None).entries(self.schema)}

    def seed(self, text: str) -> None:
        (self.folder / "seeds").mkdir(exist_ok=True)
        (self.folder / "seeds" / "regions.csv").write_text(text)
        assert self.dbt("seed").success, self.failures()

    def kinds(self, *arguments: str) -> dict[str, str]:
        """Run dbt, compare every view with its definition, and return how each was refreshed."""
        responses = self.run(*arguments)
        self.assert_equals_definition(*responses)
        return {name: str(response["refresh_kind"]) for name, response in responses.items()}


def life_cycle(project: Project, names: Sequence[str] = ()) -> None:
    """Run every step, or those that are named. Fails at the first difference."""
    for step in STEPS:
        if (names and step.__name__ not in names) or (step is stitched_read and not project.are_views):
            continue
        started = time.perf_counter()
        step(project)
        print(f"{step.__name__}: {time.perf_counter() - started:.1f} s", flush=True)


def begin(project: Project) -> None:
    assert project.dbt("debug").success
    project.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.`{project.schema}`")
    project.sql(
        f"CREATE TABLE {project.view('orders')} USING iceberg PARTITIONED BY (day) AS "
        "SELECT id, element_at(array('EU', 'US', NULL), cast(id % 3 as int) + 1) AS region,"
        " date_add(date'2024-01-01', cast(id % 4 as int)) AS day, cast(id as int) AS amount FROM range(60)"
    )
    project.seed("code,name\nEU,Europe\nUS,United States\n")


def first_build(project: Project) -> None:
    orders = project.view("orders")
    project.model("large", f"select id, region, day, amount from {orders} where amount > 1", **KIND)
    project.model("by_day", f"select day, count(*) as n, sum(amount) as total from {orders} group by day", **KIND)
    project.model(
        "by_region", f"select region, count(*) as n, sum(amount) as total from {orders} group by region", **KIND
    )
    project.model(
        "named",
        f"select o.day, r.name, count(*) as n from {orders} o join {{{{ ref('regions') }}}} r on o.region = r.code "
        "group by o.day, r.name",
        **KIND,
    )
    assert project.kinds() == dict.fromkeys(("large", "by_day", "by_region", "named"), "full")
    assert project.names() == {**expected(project, *VIEWS), "orders": "table", "regions": "table"}


VIEWS = ("large", "by_day", "by_region", "named")


def expected(project: Project, *views: str) -> dict[str, str]:
    """Return what the catalog has for materialized views, with its kind."""
    if not project.are_views:
        return dict.fromkeys(views, "table")
    return {**dict.fromkeys(views, "view"), **{f"__mv_storage__{name}": "table" for name in views}}


def nothing_to_do(project: Project) -> None:
    assert set(project.kinds().values()) == {"none"}


def new_rows(project: Project) -> None:
    project.sql(f"INSERT INTO {project.view('orders')} VALUES (100, 'EU', date'2024-01-02', 5)")
    # To merge sums, their rows are counted in a column that no reader is to see.
    by_region = "merge" if project.are_views else "overwrite"
    assert project.kinds() == {"large": "append", "by_day": "overwrite", "by_region": by_region, "named": "overwrite"}


def changed_rows(project: Project) -> None:
    project.sql(f"DELETE FROM {project.view('orders')} WHERE day = date'2024-01-03' AND region = 'US'")
    kinds = project.kinds()
    assert (kinds["large"], kinds["by_day"], kinds["named"]) == ("overwrite", "overwrite", "overwrite")
    assert "full" not in kinds.values()


def full_refresh(project: Project) -> None:
    assert project.kinds("--full-refresh", "--select", "large") == {"large": "full"}


def changed_config(project: Project) -> None:
    orders = project.view("orders")
    project.model(
        "large",
        f"select id, region, day, amount from {orders} where amount > 1",
        tblproperties={"note": "it's"},
        **KIND,
    )
    project.model(
        "by_day",
        f"select day, count(*) as n, sum(amount) as total from {orders} group by day",
        partition_by="months(day)",
        **KIND,
    )
    assert project.kinds("--select", "large", "by_day") == {"large": "none", "by_day": "full"}
    with project.adapter() as adapter:
        name = "__mv_storage__large" if project.are_views else "large"
        storage = adapter.catalog_reader_of(None).table(project.schema, name)
    assert storage.properties["note"] == "it's"


def stitched_read(project: Project) -> None:
    select = f"select day, count(*) as n, sum(amount) as total from {project.view('orders')} group by day"
    project.model("by_day", select, stale_read_behavior="use_stitching", definition_below_rows=0, **KIND)
    project.run("--select", "by_day")
    assert not project.warnings
    project.sql(f"INSERT INTO {project.view('orders')} VALUES (101, 'US', date'2024-01-01', 7), (102, 'EU', NULL, 1)")
    # No refresh in between.
    project.assert_equals_definition("by_day")
    kinds = {name: response["refresh_kind"] for name, response in project.run().items()}
    assert "full" not in kinds.values()
    project.assert_equals_definition("large", "by_region", "named")


def changed_seed(project: Project) -> None:
    project.seed("code,name\nEU,Europe\nUS,USA\n")
    assert project.kinds("--select", "named")["named"] != "none"


def documentation(project: Project) -> None:
    assert project.dbt("docs", "generate").success
    nodes = json.loads((project.folder / "target" / "catalog.json").read_text())["nodes"]
    assert set(nodes) == {"seed.p.regions", *(f"model.p.{name}" for name in VIEWS)}
    assert {nodes[f"model.p.{name}"]["metadata"]["type"] for name in VIEWS} == {"materialized_view"}
    assert list(nodes["model.p.by_day"]["columns"]) == ["day", "n", "total"]


def other_materialization(project: Project) -> None:
    select = f"select region, count(*) as n, sum(amount) as total from {project.view('orders')} group by region"
    project.model("by_region", select, materialized="table")
    project.run("--select", "by_region")
    assert "__mv_storage__by_region" not in project.names()
    assert project.names()["by_region"] == "table"
    project.model("by_region", select)
    assert project.kinds("--select", "by_region") == {"by_region": "full"}
    assert expected(project, "by_region").items() <= project.names().items()


def dropped_schema(project: Project) -> None:
    with project.adapter() as adapter:
        adapter.drop_schema(adapter.Relation.create(database="lake", schema=project.schema))
        assert project.schema not in adapter.catalog_reader_of(None).namespaces()


STEPS: tuple[Callable[[Project], None], ...] = (
    begin,
    first_build,
    nothing_to_do,
    new_rows,
    changed_rows,
    full_refresh,
    changed_config,
    stitched_read,
    changed_seed,
    documentation,
    other_materialization,
    dropped_schema,
)


if __name__ == "__main__":
    target = json.loads(Path(sys.argv[1]).read_text())
    life_cycle(Project(Path(sys.argv[2]), target, sys.argv[3]), sys.argv[4:])
