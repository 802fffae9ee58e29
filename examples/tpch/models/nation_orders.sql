-- A join of three tables.
select
    n.n_name as nation,
    year(o.o_orderdate) as order_year,
    count(*) as order_count,
    sum(o.o_totalprice) as total_price
from {{ source('tpch', 'orders') }} as o
inner join {{ source('tpch', 'customer') }} as c on o.o_custkey = c.c_custkey
inner join {{ source('tpch', 'nation') }} as n on c.c_nationkey = n.n_nationkey
group by n.n_name, year(o.o_orderdate)
