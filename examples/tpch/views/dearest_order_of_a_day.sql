select o_orderdate, o_orderkey, o_totalprice
from (
    select *, row_number() over (partition by o_orderdate order by o_totalprice desc, o_orderkey) as place
    from {{ source('tpch', 'orders') }}
)
where place = 1
