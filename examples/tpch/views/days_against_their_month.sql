with days as (
    select o_orderdate as day, trunc(o_orderdate, 'MM') as month, sum(o_totalprice) as total
    from {{ source('tpch', 'orders') }}
    group by o_orderdate, trunc(o_orderdate, 'MM')
)
select d.month, d.day, d.total, m.total as month_total
from days as d
inner join (select month, sum(total) as total from days group by month) as m on d.month = m.month
