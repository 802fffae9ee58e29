select
    c_nationkey as nation_key,
    c_mktsegment as market_segment,
    count(*) as customer_count,
    sum(c_acctbal) as balance,
    min(c_acctbal) as lowest_balance
from {{ source('tpch', 'customer') }}
group by c_nationkey, c_mktsegment
