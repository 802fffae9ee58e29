"""A dbt project over a lake in files, without any Java: views are refreshed on a Spark that computes nothing."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from uuid import uuid4

import yaml
from dbt.adapters.factory import reset_adapters
from dbt.cli.main import dbtRunner
from dbt_common.events import functions
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash, single_statement
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import Layout, ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import meaning_settings
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from dbt.adapters.icebergmv.spark.settings import spark_conf
from tests.support.filed_lake import FiledLake
from tests.support.recording_spark import Columns, RecordingSpark

PROJECT = "name: p\nversion: '1.0'\nprofile: p\nmodels: {+materialized: materialized_view}\n"
_QUIET = ["--quiet", "--no-version-check", "--no-send-anonymous-usage-stats", "--no-use-colors"]
# No file, which dbt would leave open.
_NO_LOG = ["--log-level-file", "none"]


class DryProject:
    """One project, whose models read tables of the schema `ns` in the catalog `lake`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "models").mkdir(parents=True)
        self.lake = FiledLake(folder / "warehouse")
        target = {"type": "icebergmv", "method": "session", "catalog": "lake", "schema": "ns", "threads": 1}
        outputs = {"dev": {**target, "warehouse": str(folder / "warehouse")}}
        (folder / "profiles.yml").write_text(yaml.safe_dump({"p": {"target": "dev", "outputs": outputs}}))
        (folder / "dbt_project.yml").write_text(PROJECT)
        self._settings = meaning_settings(spark_conf(self.lake.settings, "ns", {}, ""))

    def table(self, name: str, schema: Schema, partitioned_by: str) -> None:
        """Make a table."""
        field = PartitionField(schema.find_field(partitioned_by).field_id, 1000, IdentityTransform(), partitioned_by)
        self.lake.iceberg.create_table(f"ns.{name}", schema, partition_spec=PartitionSpec(field))

    def model(self, name: str, sql: str) -> None:
        """Write a model."""
        (self.folder / "models" / f"{name}.sql").write_text(f"{sql}\n")

    def remove_model(self, name: str) -> None:
        """Remove a model from the project; its view stays."""
        (self.folder / "models" / f"{name}.sql").unlink()

    def refresh(self, name: str, sql: str, columns: Columns, layout: Layout = "view") -> RefreshResult:
        """Refresh the view of a model, as a run does it."""
        statement = single_statement(sql)
        storage = ("lake", "ns", f"__mv_storage__{name}" if layout == "view" else name)
        config = ViewConfig(definition_hash(statement), storage, settings=self._settings, layout=layout)
        inspection = inspect(self.lake, RefreshRequest(("lake", "ns", name), statement, "ns", config, "ann"))
        spark = RecordingSpark(self.lake, columns, settings=self._settings)
        return refresh(Lake(self.lake, spark), inspection, read_plan(inspection))

    def plain_view(self, name: str, sql: str, *columns: str) -> None:
        """Make an Iceberg view, as a run of a plain view model does it."""
        shown = tuple(ColumnInfo(column, "string", None) for column in columns)
        self.lake.views[name] = ViewInfo("ns", name, str(uuid4()), sql, shown, {}, None)

    def operation(self, name: str, arguments: str = "{}") -> tuple[bool, str]:
        """Run an operation of dbt; return whether it succeeded, and what it printed."""
        return self.command("run-operation", name, "--args", arguments)

    def command(self, *words: str) -> tuple[bool, str]:
        """Run a command of dbt; return whether it succeeded, and what it printed."""
        folders = {"--project-dir": self.folder, "--profiles-dir": self.folder, "--log-path": self.folder / "logs"}
        common = [text for option, path in folders.items() for text in (option, str(path))]
        with redirect_stdout(io.StringIO()) as printed:
            answer = dbtRunner().invoke([*_QUIET, *_NO_LOG, *words, *common])
        return answer.success, printed.getvalue()

    def close(self) -> None:
        """Close the catalog, and forget what dbt keeps in the process."""
        self.lake.close()
        reset_adapters()  # type: ignore[no-untyped-call]
        functions.WARN_ERROR = False
