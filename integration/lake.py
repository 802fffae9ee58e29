"""A small lake for tests: real Spark, a real catalog, a real dbt project whose models tests write as they go."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner, dbtRunnerResult
from pyspark.sql import Row, SparkSession

from dbt.adapters.icebergmv.catalog_readers import reader_for
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader

CATALOG = "lake"


class Lake:
    """One dbt project and its Spark. Schemas are the test's own business."""

    def __init__(self, folder: Path, target: dict[str, Any]) -> None:
        self.folder = folder
        self.schema = str(target["schema"])
        (folder / "models").mkdir(parents=True)
        (folder / "dbt_project.yml").write_text("name: p\nversion: '1.0'\nprofile: p\nflags: {use_colors: false}\n")
        profile = {"p": {"target": "dev", "outputs": {"dev": target}}}
        (folder / "profiles.yml").write_text(yaml.safe_dump(profile, allow_unicode=True))
        self.last_messages: list[str] = []

    def sql(self, statement: str) -> list[Row]:
        return SparkSession.active().sql(statement).collect()

    def model(self, name: str, sql: str, **config: Any) -> None:
        settings = {"materialized": "materialized_view", **config}
        body = ", ".join(f"{k}={v!r}" for k, v in settings.items())
        (self.folder / "models" / f"{name}.sql").write_text(f"{{{{ config({body}) }}}}\n{sql}\n")

    def remove_model(self, name: str) -> None:
        (self.folder / "models" / f"{name}.sql").unlink()

    def properties(self, content: dict[str, Any]) -> None:
        (self.folder / "models" / "schema.yml").write_text(yaml.safe_dump(content))

    def dbt(self, *arguments: str) -> dbtRunnerResult:
        self.last_messages = []
        runner = dbtRunner(callbacks=[lambda event: self.last_messages.append(event.info.msg)])
        common = [
            "--project-dir",
            str(self.folder),
            "--profiles-dir",
            str(self.folder),
            "--log-path",
            str(self.folder / "logs"),
        ]
        return runner.invoke([*arguments, *common])

    def run(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """Run dbt, which must succeed; return the adapter response of every model by name."""
        result = self.dbt("run", *arguments)
        assert result.success, "\n".join(self.errors())
        return self.responses()

    def fail(self, *arguments: str) -> str:
        """Run dbt, which must fail; return the messages of the failed models, or of the failure itself."""
        result = self.dbt("run", *arguments)
        assert not result.success
        return "\n".join(self.errors()) or str(result.exception)

    def responses(self) -> dict[str, dict[str, Any]]:
        return {r["unique_id"].split(".")[-1]: r["adapter_response"] for r in self._results()}

    def messages(self) -> dict[str, str]:
        return {r["unique_id"].split(".")[-1]: r["message"] for r in self._results()}

    def errors(self) -> list[str]:
        return [str(r["message"]) for r in self._results() if r["status"] not in ("success", "pass")]

    def view(self, name: str) -> str:
        return f"`{CATALOG}`.`{self.schema}`.`{name}`"

    def definition(self, name: str) -> str:
        return (self.folder / "target" / "compiled" / "p" / "models" / f"{name}.sql").read_text()

    def assert_equals_definition(self, name: str) -> None:
        """Compare the view with its definition on the live tables, as bags."""
        wanted = Counter(map(repr, self.sql(self.definition(name).rstrip().rstrip(";"))))
        found = Counter(map(repr, self.sql(f"SELECT * FROM {self.view(name)}")))
        missing, surplus = list(wanted - found), list(found - wanted)
        assert not missing and not surplus, f"{name}: missing {missing[:5]}, surplus {surplus[:5]}"

    def reader(self) -> CatalogReader:
        from dbt.adapters.icebergmv.credentials import IcebergMVCredentials  # noqa: PLC0415

        target = yaml.safe_load((self.folder / "profiles.yml").read_text())["p"]["outputs"]["dev"]
        target["database"] = target.pop("catalog")
        target.pop("type")
        target.pop("threads")
        return reader_for(IcebergMVCredentials(**target).catalog_settings(CATALOG))

    def state(self, name: str) -> dict[str, str]:
        view = self.reader().view(self.schema, name)
        assert view is not None
        return dict(view.properties)

    def _results(self) -> list[dict[str, Any]]:
        file = self.folder / "target" / "run_results.json"
        return json.loads(file.read_text())["results"] if file.exists() else []  # type: ignore[no-any-return]
