"""The four rounds of change: what happens to base tables in real life, as SQL."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Round:
    """Changes between two runs of dbt, with the sentence that announces them."""

    title: str
    statements: tuple[str, ...]


_NEW_ORDERS = """
insert into {tpch}.orders
select o_orderkey + 1000000000000, o_custkey, 'O', o_totalprice,
       date_add(date '1999-01-01', cast(pmod(o_orderkey, 28) as int)),
       o_orderpriority, o_clerk, o_shippriority, o_comment
from {tpch}.orders
where o_orderdate >= date '1998-07-01' and o_orderdate < date '1998-08-01'
"""

_NEW_LINES = """
insert into {tpch}.lineitem
select l_orderkey + 1000000000000, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax,
       'N', 'O',
       date_add(date '1999-01-01', cast(pmod(l_orderkey, 28) + 2 as int)), date '1999-02-10', date '1999-02-20',
       l_shipinstruct, l_shipmode, l_comment
from {tpch}.lineitem
where l_orderkey in (select o_orderkey - 1000000000000 from {tpch}.orders where o_orderdate >= date '1999-01-01')
"""

_LATE_LINES = """
insert into {tpch}.lineitem
select l_orderkey, l_partkey, l_suppkey, l_linenumber + 10, l_quantity, l_extendedprice, l_discount, l_tax,
       l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, 'arrived late'
from {tpch}.lineitem
where pmod(l_orderkey, 50) = 0
  and (l_shipdate between date '1993-03-01' and date '1993-03-31'
       or l_shipdate between date '1995-11-01' and date '1995-11-30')
"""

_CORRECTED_PRICES = """
update {tpch}.lineitem
set l_extendedprice = l_extendedprice * 1.05
where l_shipdate between date '1996-05-10' and date '1996-05-16'
"""

_CORRECTED_TOTALS = """
merge into {tpch}.orders as o
using (
    select l_orderkey, sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) as total
    from {tpch}.lineitem
    group by l_orderkey
    having max(l_shipdate) between date '1996-05-10' and date '1996-05-16'
) as corrected
on o.o_orderkey = corrected.l_orderkey
when matched then update set o.o_totalprice = corrected.total
"""

_REFUNDS = """
update {tpch}.customer set c_acctbal = c_acctbal + 100
where c_nationkey = 7 and c_mktsegment = 'BUILDING'
"""

_DELETED_LINES = """
delete from {tpch}.lineitem
where l_orderkey in (select o_orderkey from {tpch}.orders where o_orderdate = date '1994-06-15')
"""

_DELETED_ORDERS = "delete from {tpch}.orders where o_orderdate = date '1994-06-15'"

_COMPACTION = """
call {catalog}.system.rewrite_data_files(
    table => 'tpch.{table}', options => map('rewrite-all', 'true', 'max-concurrent-file-group-rewrites', '4'))
"""


def rounds(catalog: str) -> list[Round]:
    """Return the rounds for base tables in the schema `tpch` of a catalog."""
    tpch = f"{catalog}.tpch"

    def sql(*templates: str) -> tuple[str, ...]:
        return tuple(t.format(tpch=tpch) for t in templates)

    compactions = tuple(_COMPACTION.format(catalog=catalog, table=table) for table in ("orders", "lineitem"))
    return [
        Round("New orders and their lines, in a month that did not exist", sql(_NEW_ORDERS, _NEW_LINES)),
        Round("Late lines for two old months, March 1993 and November 1995", sql(_LATE_LINES)),
        Round(
            "Corrected prices of one week (UPDATE), totals of its orders (MERGE), refunds in one nation (UPDATE)",
            sql(_CORRECTED_PRICES, _CORRECTED_TOTALS, _REFUNDS),
        ),
        Round(
            "The orders of one day deleted with their lines; then every file of orders and lineitem compacted",
            sql(_DELETED_LINES, _DELETED_ORDERS) + compactions,
        ),
    ]
