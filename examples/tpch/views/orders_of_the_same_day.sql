select a.o_orderdate, a.o_orderkey, b.o_orderkey as other_orderkey
from {{ source('tpch', 'orders') }} as a
inner join {{ source('tpch', 'orders') }} as b on a.o_orderdate = b.o_orderdate and a.o_orderkey < b.o_orderkey
