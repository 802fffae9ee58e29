select l_shipdate, l_returnflag, count(*) as lines
from {{ source('tpch', 'lineitem') }}
group by grouping sets ((l_shipdate, l_returnflag), (l_shipdate))
