"""How the tables are partitioned, and what happens to them in three rounds of change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PARTITIONS: Mapping[str, Mapping[str, str]] = {
    "tpcds": {
        "store_sales": "truncate(30, ss_sold_date_sk)",
        "catalog_sales": "truncate(30, cs_sold_date_sk)",
        "web_sales": "truncate(30, ws_sold_date_sk)",
        "store_returns": "truncate(30, sr_returned_date_sk)",
        "catalog_returns": "truncate(30, cr_returned_date_sk)",
        "web_returns": "truncate(30, wr_returned_date_sk)",
        "inventory": "truncate(30, inv_date_sk)",
    },
    "tpch": {"lineitem": "months(l_shipdate)", "orders": "months(o_orderdate)"},
}

_MONTH = "between 2451850 and 2451879"
"""November 2000, in the days of TPC-DS: a month that many of its queries read."""

_DAY = "= 2451879"

_TPCDS = {
    "a month of the facts updated": [
        *(
            f"update {{0}}.{fact}_sales set {s}_quantity = {s}_quantity + 1,"
            f" {s}_ext_sales_price = {s}_ext_sales_price + 1, {s}_net_profit = {s}_net_profit + 1"
            f" where {s}_sold_date_sk {_MONTH}"
            for fact, s in (("store", "ss"), ("catalog", "cs"), ("web", "ws"))
        ),
        *(
            f"update {{0}}.{fact}_returns set {r}_return_quantity = {r}_return_quantity + 1,"
            f" {r}_net_loss = {r}_net_loss + 1 where {r}_returned_date_sk {_MONTH}"
            for fact, r in (("store", "sr"), ("catalog", "cr"), ("web", "wr"))
        ),
        f"update {{0}}.inventory set inv_quantity_on_hand = inv_quantity_on_hand + 1 where inv_date_sk {_DAY}",
    ],
    "rows added and deleted, an item and a customer changed": [
        *(
            f"insert into {{0}}.{fact}_sales select * from {{0}}.{fact}_sales where {s}_sold_date_sk {_DAY}"
            for fact, s in (("store", "ss"), ("catalog", "cs"), ("web", "ws"))
        ),
        "insert into {0}.store_sales select * from {0}.store_sales where ss_ticket_number % 5000 = 1",
        f"delete from {{0}}.store_returns where sr_returned_date_sk {_MONTH} and sr_ticket_number % 50 = 1",
        f"delete from {{0}}.web_sales where ws_sold_date_sk {_MONTH} and ws_order_number % 50 = 1",
        "update {0}.item set i_current_price = i_current_price + 1 where i_item_sk = 17",
        "update {0}.customer set c_last_name = concat(c_last_name, 'x') where c_customer_sk = 17",
    ],
    "rows deleted everywhere, tables loaded again": [
        "delete from {0}.store_sales where ss_ticket_number % 1000 = 7",
        *(
            f"insert overwrite {{0}}.{table} select * from {{0}}.{table}"
            for table in ("date_dim", "item", "customer", "web_returns")
        ),
    ],
}
_TPCH = {
    "a month of the facts updated": [
        "update {0}.lineitem set l_quantity = l_quantity + 1, l_extendedprice = l_extendedprice + 1"
        " where l_shipdate >= date'1995-03-01' and l_shipdate < date'1995-04-01'",
    ],
    "rows added and deleted, a part and a customer changed": [
        "insert into {0}.lineitem select * from {0}.lineitem where l_shipdate = date'1995-03-15'",
        "insert into {0}.lineitem select * from {0}.lineitem where l_orderkey % 10000 = 1",
        "delete from {0}.orders where o_orderdate >= date'1995-03-01' and o_orderdate < date'1995-04-01'"
        " and o_orderkey % 50 = 1",
        "update {0}.part set p_size = p_size + 1 where p_partkey = 17",
        "update {0}.customer set c_name = concat(c_name, 'x') where c_custkey = 17",
    ],
    "rows deleted everywhere, tables loaded again": [
        "delete from {0}.lineitem where l_orderkey % 1000 = 7",
        *(f"insert overwrite {{0}}.{table} select * from {{0}}.{table}" for table in ("nation", "part", "customer")),
    ],
}
ROUNDS: Mapping[str, Mapping[str, Sequence[str]]] = {"tpcds": _TPCDS, "tpch": _TPCH}
