select o.o_orderdate, o.o_orderkey, p.rank
from {{ source('tpch', 'orders') }} as o
inner join values ('1-URGENT', 1), ('2-HIGH', 2) as p(priority, rank) on o.o_orderpriority = p.priority
