{#
  dbt run-operation rollback_materialized_view --args '{model: name, to: 7}'
  Puts a view back to the rows of an earlier version. Without `to`: the versions that it keeps.
#}
{% macro rollback_materialized_view(model, to=none, format='table') %}
  {%- do print(adapter.rollback_materialized_view(model, to, format)) -%}
{% endmacro %}
