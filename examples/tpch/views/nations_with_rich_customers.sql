select n.n_nationkey, n.n_regionkey, n.n_name
from {{ source('tpch', 'nation') }} as n
where exists (select 1 from {{ source('tpch', 'customer') }} as c where c.c_nationkey = n.n_nationkey and c.c_acctbal > 9000)
