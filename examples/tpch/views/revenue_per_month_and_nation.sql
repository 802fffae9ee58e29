select trunc(o.o_orderdate, 'MM') as order_month, c.c_nationkey, sum(l.l_extendedprice) as revenue
from {{ source('tpch', 'orders') }} as o
inner join {{ source('tpch', 'customer') }} as c on o.o_custkey = c.c_custkey
inner join {{ source('tpch', 'lineitem') }} as l on l.l_orderkey = o.o_orderkey
group by trunc(o.o_orderdate, 'MM'), c.c_nationkey
