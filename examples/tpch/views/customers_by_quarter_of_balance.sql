select c_custkey, ntile(4) over (order by c_acctbal, c_custkey) as quarter
from {{ source('tpch', 'customer') }}
