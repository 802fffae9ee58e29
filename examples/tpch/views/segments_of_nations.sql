select distinct c_nationkey, c_mktsegment
from {{ source('tpch', 'customer') }}
