"""A schema change without new rows: when does it change what the SELECT means?"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.table import TableProperties
from pyiceberg.table.name_mapping import create_mapping_from_schema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, StructType

from dbt.adapters.icebergmv.maintenance.status.tables.schema_change import changed_meaning
from tests.refresh.refreshes import ORDERS, Model, Stage, sell
from tests.support.rule_tables import analysed

BEFORE = Schema(
    NestedField(1, "id", IntegerType(), required=False),
    NestedField(2, "region", StringType(), required=False),
)


@pytest.mark.parametrize(
    ("fields", "mentions", "reason"),
    [
        ([(1, "id", IntegerType()), (2, "region", StringType()), (3, "note", StringType())], "id region", None),
        ([(1, "id", IntegerType()), (2, "region", StringType()), (3, "n", StringType())], "id n", "new column n"),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "region", StringType())], "region", "another column"),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "REGION", StringType())], "region", "another column"),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "region", StringType())], "id", None),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "region", StringType())], "*", "another column"),
        ([(1, "id", LongType()), (2, "region", StringType())], "id", "column id: long, and was int"),
        ([(1, "id", LongType()), (2, "region", StringType())], "region", None),
        ([(2, "region", StringType()), (1, "id", IntegerType())], "* id", None),
        ([(1, "id", IntegerType())], "id", None),
        ([(1, "id", IntegerType())], "id region", "lost its column region"),
        ([(1, "id", IntegerType()), (2, "old", StringType())], "id region", "lost its column region"),
    ],
)
def test_changed_meaning(fields: list[tuple[int, str, object]], mentions: str, reason: str | None) -> None:
    now = Schema(*(NestedField(i, name, kind, required=False) for i, name, kind in fields))  # type: ignore[arg-type]
    found = changed_meaning(BEFORE, now, frozenset(mentions.split()), by_shape=False)
    assert found is None if reason is None else reason in (found or "")


def test_a_column_that_was_null() -> None:
    """NOT IN takes no NULL for granted, of a time when there were some."""
    now = Schema(NestedField(1, "id", IntegerType(), required=True), NestedField(2, "region", StringType()))
    assert "has no NULL in its column id" in (changed_meaning(BEFORE, now, frozenset(["id"]), by_shape=False) or "")
    assert changed_meaning(BEFORE, now, frozenset(["region"]), by_shape=False) is None
    assert changed_meaning(now, BEFORE, frozenset(["id"]), by_shape=False) is None


@pytest.mark.parametrize("field", [NestedField(2, "area", StringType()), NestedField(2, "region", IntegerType())])
def test_names_and_types_are_part_of_the_shape(field: NestedField) -> None:
    now = Schema(NestedField(1, "id", IntegerType()), field)
    assert changed_meaning(BEFORE, now, frozenset(["id"]), by_shape=True) is not None


@pytest.mark.parametrize(
    "sql",
    [
        # A column less may make one group of two.
        "SELECT max(n) AS m FROM (SELECT *, count(*) AS n FROM t GROUP BY ALL) q",
        # A new column that both have is joined by, and NULL is not NULL.
        "SELECT v FROM t NATURAL JOIN u",
        # The columns that are not mentioned are grouped by.
        "SELECT d, a FROM t PIVOT (max(v) AS m FOR region IN ('x' AS a))",
        # Without a column, rows that differed in it alone are one.
        "SELECT d, count(*) AS c FROM (SELECT DISTINCT * FROM t) GROUP BY d",
        "SELECT d, count(*) AS c FROM (SELECT * FROM t UNION SELECT * FROM t) GROUP BY d",
        "SELECT d, count(DISTINCT *) AS c FROM t GROUP BY d",
        "SELECT d, hash(*) AS h FROM t",
        "SELECT d, hash(t.*) AS h FROM t",
        # Columns are compared by place.
        "SELECT d FROM t WHERE (d, v) IN (SELECT * FROM u)",
        "SELECT d, (d, v) NOT IN (SELECT u.* FROM u) AS f FROM t",
        "WITH c AS (SELECT * FROM u) SELECT d FROM t WHERE (d, v) IN (SELECT * FROM c)",
        "SELECT d FROM t WHERE (d, v) IN (FROM u)",
        # Names and branches follow the order of the columns.
        "SELECT * FROM u UNION ALL SELECT * FROM u",
        "SELECT x.a FROM u AS x(a, b, c)",
        "SELECT x.a FROM (SELECT * FROM u) AS x(a, b, c)",
        "WITH x(a, b, c) AS (SELECT u.* FROM u) SELECT a FROM x",
    ],
)
def test_columns_that_are_not_named_may_matter(sql: str) -> None:
    assert analysed(sql).reads_by_shape
    for now in (BEFORE.fields[::-1], BEFORE.fields[:1]):
        assert changed_meaning(BEFORE, Schema(*now), frozenset(["v"]), by_shape=True) is not None
    assert changed_meaning(BEFORE, Schema(*BEFORE.fields), frozenset(["v"]), by_shape=True) is None


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT * FROM t) SELECT d, count(*) AS c FROM a GROUP BY d",
        "SELECT t.*, u.w FROM t JOIN u ON t.d = u.d",
        "SELECT t.* FROM t WHERE d IN (1, 2)",
        "SELECT d FROM t WHERE (d, v) IN (SELECT d, v FROM u)",
        "SELECT d, v * 2 AS w FROM t UNION ALL SELECT d, w FROM u",
        "SELECT d, x FROM t LATERAL VIEW explode(xs) AS e AS x",
    ],
)
def test_columns_that_are_not_named_do_not_matter(sql: str) -> None:
    assert not analysed(sql).reads_by_shape


@pytest.mark.parametrize("sql", ["FROM t", "FROM t WHERE v > 1", "WITH c AS (FROM t) FROM c", "SELECT * FROM t"])
def test_every_column_of_a_star_may_be_another_one(sql: str) -> None:
    found = analysed(sql)
    now = Schema(BEFORE.fields[0], NestedField(7, BEFORE.fields[1].name, BEFORE.fields[1].field_type))
    assert "another column behind the name" in (changed_meaning(BEFORE, now, found.mentions, by_shape=False) or "")


@pytest.mark.parametrize("is_imported", [True, False])
def test_imported_files_are_read_by_names_which_a_new_column_takes(tmp_path: Path, is_imported: bool) -> None:
    stage = Stage(tmp_path)
    stage.catalog.iceberg.drop_table("ns.orders")
    table = stage.catalog.iceberg.create_table("ns.orders", ORDERS)
    sell("EU")(stage.tables())
    if is_imported:
        mapping = table.name_mapping() or create_mapping_from_schema(table.schema())
        table.transaction().set_properties(
            {TableProperties.DEFAULT_NAME_MAPPING: mapping.model_dump_json()}
        ).commit_transaction()
    with table.update_schema() as schema:
        schema.rename_column("region", "area")
    by_area = Model(
        "SELECT area, sum(amount) AS total FROM orders GROUP BY area", (("area", "string"), ("total", "bigint"))
    )
    stage.refresh(by_area)
    with stage.tables()["orders"].update_schema() as schema:
        schema.add_column("note", StringType())
    assert stage.refresh(by_area)[0].kind == "none"
    with stage.tables()["orders"].update_schema() as schema:
        schema.add_column("region", StringType())
    result, _ = stage.refresh(by_area)
    stage.close()
    assert result.kind == ("full" if is_imported else "none")
    assert ("gave the name region to another column" in result.reason) is is_imported


@pytest.mark.parametrize("sql", ["SELECT note, sum(amount) AS total FROM orders GROUP BY note", "SELECT * FROM orders"])
@pytest.mark.parametrize("is_imported", [True, False])
def test_a_new_column_that_imported_files_may_have_is_read_as_it_is_now(
    tmp_path: Path, sql: str, is_imported: bool
) -> None:
    """The snapshot shows it as NULL, and a query of the table shows what such files have under its name."""
    stage = Stage(tmp_path)
    table = stage.tables()["orders"]
    mapping = create_mapping_from_schema(table.schema())
    properties = {TableProperties.DEFAULT_NAME_MAPPING: mapping.model_dump_json()} if is_imported else {}
    table.transaction().set_properties(properties).commit_transaction()
    columns = (("id", "bigint"), ("day", "date"), ("region", "string"), ("amount", "bigint"), ("note", "string"))
    model = Model(sql, columns if "*" in sql else (("note", "string"), ("total", "bigint")))
    with table.update_schema() as schema:
        schema.add_column("note", StringType())
    _, said = stage.refresh(model)
    assert any("`orders` VERSION AS OF" in statement for statement in said) is not is_imported
    _, said = stage.refresh(model)
    assert bool(said) is is_imported, "what is read as it is now may be another one at the next run"
    stage.close()


def test_a_new_column_that_nobody_reads_does_not_matter(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    table = stage.tables()["orders"]
    mapping = create_mapping_from_schema(table.schema()).model_dump_json()
    table.transaction().set_properties({TableProperties.DEFAULT_NAME_MAPPING: mapping}).commit_transaction()
    with table.update_schema() as schema:
        schema.add_column("note", StringType())
    _, said = stage.refresh(Model())
    assert any("`orders` VERSION AS OF" in statement for statement in said)
    assert stage.refresh(Model())[0].kind == "none"
    stage.close()


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        ("SELECT region, sum(amount) AS total FROM orders GROUP BY region", ["none", "overwrite", "none"]),
        ("SELECT place.city AS region, sum(amount) AS total FROM orders GROUP BY 1", ["full", "full", "none"]),
    ],
)
def test_a_struct_that_gets_a_field_matters_to_those_who_read_it(tmp_path: Path, sql: str, kinds: list[str]) -> None:
    """No select list shows the rows of a snapshot under another struct, so such a table is read as it is now."""
    stage = Stage(tmp_path)
    place = StructType(NestedField(6, "city", StringType(), required=False))
    with stage.tables()["orders"].update_schema() as schema:
        schema.add_column("place", place)
    sell("EU")(stage.tables())
    model = Model(sql)
    stage.refresh(model)
    with stage.tables()["orders"].update_schema() as schema:
        schema.add_column(("place", "zip"), StringType())
    found = [stage.refresh(model)[0].kind]
    orders = stage.tables()["orders"]
    row = {"id": 9, "region": "EU", "amount": 5, "place": {"city": "Ulm", "zip": "89073"}}
    orders.append(pa.Table.from_pylist([row], schema=schema_to_pyarrow(orders.schema())))
    found += [stage.refresh(model)[0].kind, stage.refresh(model)[0].kind]
    stage.close()
    assert found == kinds
