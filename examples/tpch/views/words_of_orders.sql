select o_orderdate, o_orderkey, word
from {{ source('tpch', 'orders') }}
lateral view explode(split(o_comment, ' ')) words as word
