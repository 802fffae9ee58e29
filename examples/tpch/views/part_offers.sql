select p.p_partkey, p.p_name, ps.ps_suppkey, ps.ps_supplycost
from {{ source('tpch', 'part') }} as p
left join {{ source('tpch', 'partsupp') }} as ps on p.p_partkey = ps.ps_partkey
