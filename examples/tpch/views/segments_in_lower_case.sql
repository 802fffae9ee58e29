select lower(c_mktsegment) as segment, count(*) as customers
from {{ source('tpch', 'customer') }}
group by lower(c_mktsegment)
