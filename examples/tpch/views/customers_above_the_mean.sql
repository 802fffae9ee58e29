select c_nationkey, c_custkey
from {{ source('tpch', 'customer') }}
where c_acctbal > (select avg(c_acctbal) from {{ source('tpch', 'customer') }})
