select c_nationkey, c_custkey, sum(c_acctbal) over (partition by c_nationkey order by c_custkey) as balance
from {{ source('tpch', 'customer') }}
