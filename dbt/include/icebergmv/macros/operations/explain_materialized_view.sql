{#
  dbt run-operation explain_materialized_view --args '{model: name, format: json}'
  What each column follows, what stops each base table, the plan and the SQL of the next refresh. Without a model: one
  line for each model of the project, also those that are no materialized views yet. No statement is run.
#}
{% macro explain_materialized_view(model=none, format='table') %}
  {%- do print(adapter.explain_materialized_view(model, format)) -%}
{% endmacro %}
