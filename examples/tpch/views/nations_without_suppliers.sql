select n.n_nationkey, n.n_regionkey, n.n_name
from {{ source('tpch', 'nation') }} as n
where not exists (select 1 from {{ source('tpch', 'supplier') }} as s where s.s_nationkey = n.n_nationkey)
