select p_partkey, p.p_type, ps.ps_suppkey
from {{ source('tpch', 'part') }} as p
full join (select ps_partkey as p_partkey, ps_suppkey from {{ source('tpch', 'partsupp') }}) as ps using (p_partkey)
