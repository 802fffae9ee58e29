select o.o_orderdate, o.o_orderkey, l.l_linenumber
from {{ source('tpch', 'orders') }} as o
full join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
