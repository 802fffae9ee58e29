select p.p_partkey, p.p_name
from {{ source('tpch', 'part') }} as p
left anti join {{ source('tpch', 'partsupp') }} as ps on p.p_partkey = ps.ps_partkey and ps.ps_supplycost < 300
