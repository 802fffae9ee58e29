-- A view on a view: it follows the rows of daily_revenue that were recomputed.
select
    trunc(ship_date, 'MM') as ship_month,
    sum(line_count) as line_count,
    sum(revenue) as revenue,
    max(revenue) as best_day_revenue
from {{ ref('daily_revenue') }}
group by trunc(ship_date, 'MM')
