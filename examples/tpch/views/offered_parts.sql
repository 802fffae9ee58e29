select p.p_partkey, p.p_name
from {{ source('tpch', 'part') }} as p
left semi join {{ source('tpch', 'partsupp') }} as ps on p.p_partkey = ps.ps_partkey and ps.ps_availqty > 5000
