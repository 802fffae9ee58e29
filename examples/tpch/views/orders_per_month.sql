select trunc(o_orderdate, 'MM') as order_month, count(*) as orders, sum(o_totalprice) as total
from {{ source('tpch', 'orders') }}
group by trunc(o_orderdate, 'MM')
