select *
from (select l_shipdate, l_returnflag, l_quantity from {{ source('tpch', 'lineitem') }})
pivot (sum(l_quantity) for l_returnflag in ('A' as accepted, 'N' as neither, 'R' as returned))
