select o_orderdate, o_orderkey
from {{ source('tpch', 'orders') }}
where o_orderdate not in (select l_shipdate from {{ source('tpch', 'lineitem') }} where l_shipdate is not null)
