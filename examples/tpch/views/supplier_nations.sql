select s.s_suppkey, n.n_nationkey, n.n_regionkey, n.n_name
from {{ source('tpch', 'supplier') }} as s
inner join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
