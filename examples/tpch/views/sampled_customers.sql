select c_nationkey, c_custkey
from {{ source('tpch', 'customer') }} tablesample (100 percent)
