"""Facts by day with a customer, a product and an amount; customers and products as small tables beside them."""

from __future__ import annotations

from pyspark.sql import SparkSession

DAYS = 200
PRODUCTS_COUNT = 100
FACTS, CUSTOMERS, PRODUCTS = "lake.raw.facts", "lake.raw.customers", "lake.raw.products"
FIRST_DAY = "date'2024-01-01'"
LAST_DAY = f"date_add({FIRST_DAY}, {DAYS - 1})"


def rows_per_day(rows: int) -> int:
    """Return how many facts a day has, of so many in all."""
    return max(1, rows // DAYS)


def customers(rows: int) -> int:
    """Return how many customers there are for so many facts, where nothing else is asked for."""
    return max(100, rows // 50)


def make_tables(rows: int, known: int) -> None:
    """Make the three tables, with so many facts and customers. Ids of facts rise with the days; one fact
    of twenty has a customer who is not known."""
    spark = SparkSession.active()
    spark.sql("create namespace if not exists lake.raw")
    per_day = rows_per_day(rows)
    spark.sql(
        f"create table {FACTS} using iceberg partitioned by (day) as select id, date_add({FIRST_DAY},"
        f" cast(id div {per_day} as int)) as day, cast(pmod(hash(id), {known * 20 // 19}) as int) as customer,"
        f" cast(pmod(hash(id, 'product'), {PRODUCTS_COUNT}) as int) as product,"
        f" cast(pmod(hash(id, 'amount'), 100) as int) as amount from range({per_day * DAYS})"
    )
    spark.sql(
        f"create table {CUSTOMERS} using iceberg as select cast(id as int) as id, concat('c', id % 50) as country"
        f" from range({known})"
    )
    spark.sql(
        f"create table {PRODUCTS} using iceberg as select cast(id as int) as id, concat('p', id % 10) as category"
        f" from range({PRODUCTS_COUNT})"
    )
