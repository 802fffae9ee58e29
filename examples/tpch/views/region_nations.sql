select r.r_regionkey, r.r_name, count(*) as nations
from {{ source('tpch', 'region') }} as r
inner join {{ source('tpch', 'nation') }} as n on n.n_regionkey = r.r_regionkey
group by r.r_regionkey, r.r_name
