{#
  dbt run-operation materialized_view_status --args '{select: "name or list", format: json}'
  Every materialized view: fresh or stale, what changed, what the next run does. No statement is run.
#}
{% macro materialized_view_status(select=none, format='table') %}
  {%- do print(adapter.materialized_view_status(select, format)) -%}
{% endmacro %}
