select count(*) as orders, sum(o_totalprice) as total
from {{ source('tpch', 'orders') }}
