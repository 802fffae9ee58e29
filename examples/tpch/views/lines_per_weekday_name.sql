select date_format(l_shipdate, 'yyyy-MM EEE') as weekday, count(*) as lines
from {{ source('tpch', 'lineitem') }}
group by date_format(l_shipdate, 'yyyy-MM EEE')
