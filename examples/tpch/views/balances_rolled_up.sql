select c_nationkey, c_mktsegment, sum(c_acctbal) as balance
from {{ source('tpch', 'customer') }}
group by c_nationkey, rollup (c_mktsegment)
