select year(l_shipdate) as ship_year, l_shipmode, sum(l_quantity) as quantity
from {{ source('tpch', 'lineitem') }}
group by year(l_shipdate), l_shipmode
