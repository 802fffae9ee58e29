select a.o_orderdate, a.o_orderkey, b.o_orderkey as earlier_orderkey
from {{ source('tpch', 'orders') }} as a
inner join {{ source('tpch', 'orders') }} as b on a.o_custkey = b.o_custkey and b.o_orderdate < a.o_orderdate
