-- TPC-H query 1, with a line per ship month.
select
    trunc(l_shipdate, 'MM') as ship_month,
    l_returnflag as return_flag,
    l_linestatus as line_status,
    sum(l_quantity) as sum_qty,
    sum(l_extendedprice) as sum_base_price,
    sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
    avg(l_quantity) as avg_qty,
    avg(l_extendedprice) as avg_price,
    avg(l_discount) as avg_disc,
    count(*) as count_order
from {{ source('tpch', 'lineitem') }}
group by trunc(l_shipdate, 'MM'), l_returnflag, l_linestatus
