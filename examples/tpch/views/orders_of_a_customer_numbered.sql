select o_orderdate, o_orderkey, row_number() over (partition by o_custkey order by o_orderkey) as number
from {{ source('tpch', 'orders') }}
