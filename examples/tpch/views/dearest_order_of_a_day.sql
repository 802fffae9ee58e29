select o_orderdate, o_orderkey, o_totalprice
from {{ source('tpch', 'orders') }}
qualify row_number() over (partition by o_orderdate order by o_totalprice desc, o_orderkey) = 1
