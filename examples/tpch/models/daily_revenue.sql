select
    l_shipdate as ship_date,
    count(*) as line_count,
    sum(l_quantity) as quantity,
    sum(l_extendedprice * (1 - l_discount)) as revenue
from {{ source('tpch', 'lineitem') }}
group by l_shipdate
