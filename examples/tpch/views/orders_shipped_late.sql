select o.o_orderkey, o.o_orderdate
from {{ source('tpch', 'orders') }} as o
where exists (select 1 from {{ source('tpch', 'lineitem') }} as l where l.l_orderkey = o.o_orderkey and l.l_receiptdate > l.l_commitdate)
