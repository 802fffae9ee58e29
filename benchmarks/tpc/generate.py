"""Write the tables of TPC-DS or TPC-H as Parquet, and the texts of their queries as JSON, as DuckDB has them.

Needs requirements.txt beside it, in an environment of its own.

    python benchmarks/tpc/generate.py tpcds ./tpcds --scale 1
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import duckdb
from duckdb_extensions import import_extension


def main() -> int:
    """Write what was asked for into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=["tpcds", "tpch"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    import_extension(options.benchmark)
    connection = duckdb.connect()
    connection.execute(f"load {options.benchmark}")
    connection.execute(f"call {'dsdgen' if options.benchmark == 'tpcds' else 'dbgen'}(sf={options.scale})")
    for (table,) in connection.execute("show tables").fetchall():
        connection.execute(f"copy {table} to '{options.folder / table}.parquet' (format parquet)")
    found = connection.execute(f"select query_nr, query from {options.benchmark}_queries() order by 1").fetchall()
    (options.folder / "queries.json").write_text(json.dumps(dict(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
