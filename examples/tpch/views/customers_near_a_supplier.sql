select c_nationkey, c_custkey
from {{ source('tpch', 'customer') }}
where c_nationkey in (select s_nationkey from {{ source('tpch', 'supplier') }})
