select o_orderdate as day from {{ source('tpch', 'orders') }}
except
select l_shipdate as day from {{ source('tpch', 'lineitem') }}
