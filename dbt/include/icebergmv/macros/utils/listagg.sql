{#
  dbt-spark's leaves the order out. Spark's own `listagg` keeps it, but cannot be cut to a number of values; hex texts
  hold no comma, so a list of them can be taken apart again.
#}
{% macro icebergmv__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if not order_by_clause -%}
    {{ return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) }}
  {%- elif not limit_num -%}
    {{ return("listagg(" ~ measure ~ ", " ~ delimiter_text ~ ") within group (" ~ order_by_clause ~ ")") }}
  {%- elif (measure | lower).split()[0] == 'distinct' -%}
    {%- do exceptions.raise_compiler_error(
      "Cannot render listagg of " ~ measure ~ ": Spark cannot order and cut distinct values. "
      ~ "Leave out limit_num or order_by_clause, or make the values distinct in a subquery.") -%}
  {%- endif -%}
  {%- set listed -%}
    listagg(hex(cast({{ measure }} as string)), ',') within group ({{ order_by_clause }})
  {%- endset -%}
  {{ return("array_join(transform(slice(split(" ~ listed ~ ", ','), 1, " ~ limit_num
    ~ "), value -> cast(unhex(value) as string)), " ~ delimiter_text ~ ")") }}
{%- endmacro %}
