-- A filter and a projection: no aggregate at all.
select
    l_orderkey as order_key,
    l_linenumber as line_number,
    l_shipdate as ship_date,
    l_receiptdate as receipt_date,
    datediff(l_receiptdate, l_shipdate) as days_in_transit,
    l_extendedprice * (1 - l_discount) as lost_revenue
from {{ source('tpch', 'lineitem') }}
where l_returnflag = 'R'
