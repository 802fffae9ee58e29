select n.n_nationkey, n.n_regionkey, n.n_name, count(s.s_suppkey) as suppliers
from {{ source('tpch', 'supplier') }} as s
right join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
group by n.n_nationkey, n.n_regionkey, n.n_name
