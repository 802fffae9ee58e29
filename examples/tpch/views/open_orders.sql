select o_orderkey, o_orderdate, o_totalprice * 1.1 as with_margin
from {{ source('tpch', 'orders') }}
where o_orderstatus = 'O'
