select coalesce(o.day, l.day) as day, o.orders, l.lines
from (select o_orderdate as day, count(*) as orders from {{ source('tpch', 'orders') }} group by o_orderdate) as o
full join (select l_shipdate as day, count(*) as lines from {{ source('tpch', 'lineitem') }} group by l_shipdate) as l
    on o.day = l.day
