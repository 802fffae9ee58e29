"""Names without catalog or schema: what they are written as, and what stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.names_in_full import names_in_full
from tests.support.metadata_tables import MetadataTable
from tests.support.stub_catalog import StubCatalog

VIEW = ViewInfo("ns", "v", "u", "SELECT k FROM t", (ColumnInfo("k", "int", None),), {}, None, default_namespace=("ns",))


def _written(sql: str, folder: Path) -> str:
    table = MetadataTable(folder, Schema(NestedField(1, "k", IntegerType()))).table()
    catalog = StubCatalog({"ns.v": VIEW}, dict.fromkeys(("ns.t", "other.t", "lake.t", "ns.odd name"), table))
    return names_in_full(sql, "ns", BaseTables(catalog))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select k from t", "select k from `lake`.`ns`.`t`"),
        ("select t.k from t join other.t as o on t.k = o.k", None),
        ("select k from v", "select k from v"),
        ("select k from t version as of 3", "select k from `lake`.`ns`.`t` version as of 3"),
        ("select k from t tablesample (5 rows)", "select k from `lake`.`ns`.`t` tablesample (5 rows)"),
        ("with t as (select 1 as k) select k from t", "with t as (select 1 as k) select k from t"),
        ("select k from `odd name`", "select k from `lake`.`ns`.`odd name`"),
        ("select k from lake.ns.t", "select k from lake.ns.t"),
        ("select k from lake.t", "select k from lake.t"),
        ("select k from temporary", "select k from temporary"),
        ("select k from parquet.`/a/t`", "select k from parquet.`/a/t`"),
        ("select from from where", "select from from where"),
    ],
)
def test_bare_names_of_tables_are_written_in_full(sql: str, expected: str | None, tmp_path: Path) -> None:
    both = "select t.k from `lake`.`ns`.`t` join `lake`.`other`.`t` as o on t.k = o.k"
    assert _written(sql, tmp_path) == (expected or both)
