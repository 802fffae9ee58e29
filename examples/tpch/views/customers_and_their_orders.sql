select c.c_nationkey, c.c_custkey, o.o_orderdate, o.o_orderkey
from {{ source('tpch', 'customer') }} as c
left join {{ source('tpch', 'orders') }} as o on c.c_custkey = o.o_custkey
