select o.o_orderkey, o.o_orderdate, l.l_linenumber, l.l_shipdate, l.l_extendedprice
from {{ source('tpch', 'orders') }} as o
inner join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
