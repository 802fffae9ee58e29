"""A refresh beside a rebuild of the same rows, for views of every kind and changes of several sizes.

Facts have a day, a customer and an amount, and are partitioned by day; customers are a small table. After each change
every view is refreshed by one `dbt run`, and rebuilt by CREATE OR REPLACE TABLE AS its SELECT in the same session, in
turn; seconds are those of the model within dbt, and of that statement. Two hand-written models are run beside:
`insert_overwrite` with three days of lookback, and the same told exactly which days changed. Prints JSON lines:
seconds, how much was written, and how many rows of each are wrong afterwards.

    python -m benchmarks.refresh_kinds --rows 20000000 --rounds 3
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.parts.bags import differences
from benchmarks.parts.project import dbt, write_project
from benchmarks.parts.tables import CUSTOMERS, FACTS, FIRST_DAY, LAST_DAY, make_tables

VIEWS = {
    "by_day": f"select day, count(*) as n, sum(amount) as total from {FACTS} group by day",
    "by_customer": f"select customer, count(*) as n, sum(amount) as total from {FACTS} group by customer",
    "by_country": f"select c.country, count(*) as n, sum(f.amount) as total from {FACTS} f"
    f" join {CUSTOMERS} c on f.customer = c.id group by c.country",
    "total": f"select count(*) as n, sum(amount) as total, avg(amount) as mean from {FACTS}",
    "filtered": f"select id, day, customer, amount from {FACTS} where amount > 97",
    "medians": f"select customer, percentile(amount, 0.5) as middle, count(distinct product) as products from {FACTS}"
    " group by customer",
    "numbered": "select id, customer, amount, row_number() over (partition by customer order by id) as place"
    f" from {FACTS}",
    "enriched": f"select f.id, f.day, f.amount, c.id as customer, c.country from {FACTS} f"
    f" join {CUSTOMERS} c on f.customer = c.id",
}
OLD_DAY = f"date_add({FIRST_DAY}, 20)"
NEW_ROWS = f"""insert into {FACTS} select id + 1000000000, day, customer, product, amount from {FACTS}
    where id % 1000 = {{round}}"""
RENAMED = f"update {CUSTOMERS} set country = concat(country, '_') where id = 7"
CHANGES = {
    "nothing": [],
    "one day updated": [f"update {FACTS} set amount = amount + 1 where day = {LAST_DAY}"],
    "0.1 % new rows on all days": [NEW_ROWS],
    "one customer renamed": [RENAMED],
    "0.1 % new rows on all days, one customer renamed": [NEW_ROWS, RENAMED],
    "a tenth of a day deleted": [f"delete from {FACTS} where day = {OLD_DAY} and id % 10 = {{round}}"],
    "customers loaded again": [f"insert overwrite {CUSTOMERS} select * from {CUSTOMERS}"],
}
BY_HAND = (
    "{{{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['day']) }}}}"
    f" select day, count(*) as n, sum(amount) as total from {FACTS}"
    " {{% if is_incremental() %}} where {where} {{% endif %}} group by day"
)
HAND_WRITTEN = {
    "by_day_lookback": BY_HAND.format(where=f"day >= date_sub({LAST_DAY}, 3)"),
    "by_day_informed": BY_HAND.format(where="{{ var('changed_days') }}"),
}
INFORMED = {
    "nothing": "false",
    "one day updated": f"day = {LAST_DAY}",
    "0.1 % new rows on all days": "true",
    "one customer renamed": "false",
    "0.1 % new rows on all days, one customer renamed": "true",
    "a tenth of a day deleted": f"day = {OLD_DAY}",
    "customers loaded again": "false",
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--customers", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=[*VIEWS, *HAND_WRITTEN], default=[*VIEWS, *HAND_WRITTEN])
    parser.add_argument("--changes", nargs="+", choices=[*CHANGES], default=[*CHANGES])
    parser.add_argument("--no-compare", action="store_true", help="do not look for wrong rows")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _project(folder, options.models)
        dbt(folder, "debug", "--connection")
        make_tables(options.rows, options.customers)
        dbt(folder, "run")
        for change in options.changes:
            rounds = [dict(_measured(folder, change, number, options)) for number in range(options.rounds)]
            for model in rounds[0]:
                print(json.dumps({"change": change, "model": model, **_middle([r[model] for r in rounds])}), flush=True)
    return 0


def _project(folder: Path, models: list[str]) -> None:
    of_views = {name: "{{ config(materialized='materialized_view') }} " + sql for name, sql in VIEWS.items()}
    files = {f"models/{name}.sql": sql for name, sql in {**of_views, **HAND_WRITTEN}.items() if name in models}
    write_project(folder, "bench", files, variables="{changed_days: 'true'}")


def _measured(
    folder: Path, change: str, number: int, options: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Make a change; refresh, rebuild and compare each model; yield what was measured of it."""
    spark = SparkSession.active()
    for statement in CHANGES[change]:
        spark.sql(statement.format(round=number))
    for model in options.models:
        sql = VIEWS.get(model, VIEWS["by_day"])
        found = dbt(folder, "run", "--select", model, "--vars", json.dumps({"changed_days": INFORMED[change]}))
        seconds = found.results[0].execution_time
        started = time.perf_counter()
        by = " partitioned by (day)" if "day," in sql.split(" from ")[0] else ""
        spark.sql(f"create or replace table lake.s.rebuilt using iceberg{by} as {sql}").collect()
        rebuild = time.perf_counter() - started
        wrong = None if options.no_compare else _wrong_rows(model)
        response = found.results[0].adapter_response
        yield (
            model,
            {
                "kind": response.get("refresh_kind", "by hand"),
                "seconds": seconds,
                "rebuild": rebuild,
                "rows_written": response.get("rows_affected"),
                "bytes_written": response.get("bytes_written"),
                "wrong_rows": wrong,
            },
        )


def _wrong_rows(model: str) -> int:
    columns = SparkSession.active().table("lake.s.rebuilt").columns
    (found,) = differences("select * from lake.s.rebuilt", columns, [f"lake.s.{model}"])
    return found.rows


def _middle(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of several rounds, with the spread, and how much faster than the rebuild the model was."""
    seconds, rebuild = ([r[key] for r in rounds] for key in ("seconds", "rebuild"))
    middle, built = statistics.median(seconds), statistics.median(rebuild)
    return {
        **rounds[-1],
        "kinds": sorted({r["kind"] for r in rounds}),
        "seconds": round(middle, 2),
        "from_to": [round(min(seconds), 2), round(max(seconds), 2)],
        "rebuild": round(built, 2),
        "times_faster": round(built / middle, 2),
        "wrong_rows": max((r["wrong_rows"] for r in rounds), default=None, key=lambda n: n or 0),
    }


if __name__ == "__main__":
    sys.exit(main())
