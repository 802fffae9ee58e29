select o_orderdate as day from {{ source('tpch', 'orders') }}
union
select l_shipdate as day from {{ source('tpch', 'lineitem') }}
