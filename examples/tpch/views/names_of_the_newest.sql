select distinct max_by(c_name, c_custkey) as newest
from {{ source('tpch', 'customer') }}
group by c_nationkey
