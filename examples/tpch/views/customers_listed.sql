select c_nationkey, sort_array(collect_list(c_custkey)) as customers
from {{ source('tpch', 'customer') }}
group by c_nationkey
