select o_orderdate, o_orderkey
from {{ source('tpch', 'orders') }}
where o_orderdate <= current_date()
