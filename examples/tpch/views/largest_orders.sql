select o_orderdate, o_orderkey, o_totalprice
from {{ source('tpch', 'orders') }}
order by o_totalprice desc, o_orderkey
limit 10
