select o_orderdate, count(*) as orders
from {{ source('tpch', 'orders') }}
where o_totalprice > 1000
group by o_orderdate
having count(*) > 1
