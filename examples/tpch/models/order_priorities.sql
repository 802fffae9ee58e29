select
    o_orderdate as order_date,
    o_orderpriority as priority,
    count(*) as order_count,
    count(distinct o_custkey) as customer_count,
    sum(o_totalprice) as total_price
from {{ source('tpch', 'orders') }}
group by o_orderdate, o_orderpriority
