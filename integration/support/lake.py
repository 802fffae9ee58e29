"""A small lake for tests: real Spark, a real catalog, a real dbt project whose models tests write as they go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from dbt.artifacts.schemas.run import RunExecutionResult
from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt_common.events.base_types import EventMsg
from pyspark.sql import Row, SparkSession

from dbt.adapters.icebergmv.catalog_readers import reader_for
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.lake import Spark

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.credentials import IcebergMVCredentials

CATALOG = "lake"
THREADS = 4
PROJECT = """
name: p
version: '1.0'
profile: p
flags: {use_colors: false}
# Tests look at what views find out when they are read; their tables are small.
models: {+definition_below_rows: 0}
"""
# What dbt would write of every run is not read here: its artifacts take as long as all the rest of a small run.
_BRIEF = ("--quiet", "--no-write-json", "--log-level-file", "none")


class LakeProject:
    """One dbt project and its Spark. Schemas are the test's own business.

    `warnings` are those of the last invocation.
    """

    def __init__(self, folder: Path, target: dict[str, Any]) -> None:
        self.folder = folder
        self.schema = str(target["schema"])
        (folder / "models").mkdir(parents=True)
        (folder / "dbt_project.yml").write_text(PROJECT)
        profile = {"p": {"target": "dev", "outputs": {"dev": target}}}
        (folder / "profiles.yml").write_text(yaml.safe_dump(profile, allow_unicode=True))
        self._results: Sequence[Any] = []
        self.warnings: list[str] = []

    def sql(self, statement: str) -> list[Row]:
        return self.runner()(statement)

    def runner(self) -> Callable[[str], list[Row]]:
        """Return what runs statements in the session of the calling thread; another thread may have another one."""
        session = SparkSession.active()
        return lambda statement: session.sql(statement).collect()

    def session(self, conf: Mapping[str, str]) -> Spark:
        """Return a session of its own, with some settings, as the engine wants it."""
        session = SparkSession.active().newSession()
        for key, value in conf.items():
            session.conf.set(key, value)
        return lambda sql: session.sql(sql).collect()

    def at_once(self, statements: Iterable[str]) -> list[list[Row]]:
        """Run statements that do not depend on one another; return the rows of each, in their order."""
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(self.runner(), statements))

    def model(self, name: str, sql: str, **config: Any) -> None:
        settings = {"materialized": "materialized_view", **config}
        body = ", ".join(f"{k}={v!r}" for k, v in settings.items())
        (self.folder / "models" / f"{name}.sql").write_text(f"{{{{ config({body}) }}}}\n{sql}\n")

    def remove_model(self, name: str) -> None:
        (self.folder / "models" / f"{name}.sql").unlink()

    def properties(self, content: dict[str, Any]) -> None:
        (self.folder / "models" / "schema.yml").write_text(yaml.safe_dump(content))

    def dbt(self, *arguments: str) -> dbtRunnerResult:
        folders = {"--project-dir": self.folder, "--profiles-dir": self.folder, "--log-path": self.folder / "logs"}
        common = [text for option, folder in folders.items() for text in (option, str(folder))]
        self.warnings = []
        answer = dbtRunner(callbacks=[self._keep_warning]).invoke(
            [*arguments, *common, "--no-send-anonymous-usage-stats", "--no-version-check"]
        )
        self._results = answer.result.results if isinstance(answer.result, RunExecutionResult) else []
        return answer

    def _keep_warning(self, event: EventMsg) -> None:
        info: Any = event.info
        if info.level == "warn":
            self.warnings.append(info.msg)

    def run(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """Run dbt, which must succeed; return the adapter response of every model by name."""
        result = self.dbt("run", *_BRIEF, *arguments)
        assert result.success, "\n".join(self.failures().values())
        return self.responses()

    def behaviors(self, *models: str) -> dict[str, str]:
        """Run models; return what readers of each get when it is stale."""
        return {name: response["stale_read_behavior"] for name, response in self.run("--select", *models).items()}

    def fail(self, *arguments: str) -> str:
        """Run dbt, which must fail; return the messages of the failed models, or of the failure itself."""
        result = self.dbt("run", *_BRIEF, *arguments)
        assert not result.success
        return "\n".join(self.failures().values()) or str(result.exception)

    def responses(self) -> dict[str, dict[str, Any]]:
        return {r.node.name: r.adapter_response for r in self._results}

    def failures(self) -> dict[str, str]:
        """Return the messages of the models that failed, by name."""
        return {r.node.name: str(r.message) for r in self._results if r.status not in ("success", "pass")}

    def view(self, name: str) -> str:
        return f"`{CATALOG}`.`{self.schema}`.`{name}`"

    def definition(self, name: str) -> str:
        return (self.folder / "target" / "compiled" / "p" / "models" / f"{name}.sql").read_text()

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """Return the rows that a view shows, in order; no column may be NULL."""
        return sorted(tuple(row) for row in self.sql(f"SELECT * FROM {self.view(name)}"))

    def assert_equals_definition(self, *names: str) -> None:
        """Compare each view with its definition on the live tables, as bags."""
        queries = [q for name in names for q in (self.definition(name), f"SELECT * FROM {self.view(name)}")]
        rows = self.at_once(query.rstrip().rstrip(";") for query in queries)
        wrong = {}
        for name, wanted_rows, found_rows in zip(names, rows[::2], rows[1::2], strict=True):
            wanted, found = Counter(map(repr, wanted_rows)), Counter(map(repr, found_rows))
            missing, surplus = list(wanted - found), list(found - wanted)
            if missing or surplus:
                wrong[name] = f"missing {missing[:5]}, surplus {surplus[:5]}"
        assert not wrong, wrong

    def reader(self) -> CatalogReader:
        return reader_for(self.credentials().catalog_settings(CATALOG))

    def credentials(self) -> IcebergMVCredentials:
        """Return the target of the profile."""
        from dbt.adapters.icebergmv.credentials import IcebergMVCredentials  # noqa: PLC0415

        target = yaml.safe_load((self.folder / "profiles.yml").read_text())["p"]["outputs"]["dev"]
        target["database"] = target.pop("catalog")
        target.pop("type")
        target.pop("threads")
        return IcebergMVCredentials(**target)

    def published(self, name: str) -> ViewInfo:
        """Return a view as the catalog has it."""
        view = self.reader().view(self.schema, name)
        assert view is not None
        return view

    def state(self, name: str) -> dict[str, str]:
        return dict(self.published(name).properties)

    def java_table(self, name: str) -> Any:
        """Return Iceberg's own object for a table: it makes commits that no SQL makes."""
        spark: Any = SparkSession.active()
        return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)


class HadoopLakeProject(LakeProject):
    """A lake in a catalog that PyIceberg cannot open."""

    def reader(self) -> CatalogReader:
        return SparkReader(CATALOG, self.sql)
