select o_orderpriority, count(*) as orders
from {{ source('tpch', 'orders') }}
group by o_orderpriority
