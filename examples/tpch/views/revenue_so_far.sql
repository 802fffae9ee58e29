select o_orderdate, sum(sum(o_totalprice)) over (order by o_orderdate) as revenue
from {{ source('tpch', 'orders') }}
group by o_orderdate
