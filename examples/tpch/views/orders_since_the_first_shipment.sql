select o_orderdate, o_orderkey
from {{ source('tpch', 'orders') }}
where o_orderdate >= (select min(l_shipdate) from {{ source('tpch', 'lineitem') }})
