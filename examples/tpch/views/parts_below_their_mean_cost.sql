select ps.ps_partkey, ps.ps_suppkey
from {{ source('tpch', 'partsupp') }} as ps
where ps.ps_supplycost < (select avg(o.ps_supplycost) from {{ source('tpch', 'partsupp') }} as o where o.ps_partkey = ps.ps_partkey)
