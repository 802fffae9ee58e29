select c_nationkey, sort_array(collect_set(cast(c_acctbal as double))) as balances
from {{ source('tpch', 'customer') }}
group by c_nationkey
