select c_nationkey, c_mktsegment, sum(c_acctbal) as balance
from {{ source('tpch', 'customer') }}
group by cube (c_nationkey, c_mktsegment)
