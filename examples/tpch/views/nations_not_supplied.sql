select n_nationkey, n_regionkey
from {{ source('tpch', 'nation') }}
where n_nationkey not in (select s_nationkey from {{ source('tpch', 'supplier') }})
