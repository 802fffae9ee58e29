select o_orderdate, word, count(*) as times
from (select o_orderdate, explode(split(o_comment, ' ')) as word from {{ source('tpch', 'orders') }}) as words
group by o_orderdate, word
