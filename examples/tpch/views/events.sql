select o_orderdate as day, 'ordered' as event, o_orderkey as order_key from {{ source('tpch', 'orders') }}
union all
select l_shipdate as day, 'shipped' as event, l_orderkey as order_key from {{ source('tpch', 'lineitem') }}
