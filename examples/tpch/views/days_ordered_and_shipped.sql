select o_orderdate as day from {{ source('tpch', 'orders') }}
intersect
select l_shipdate as day from {{ source('tpch', 'lineitem') }}
