{#
  dbt run-operation maintain_materialized_views --args '{select: "name or list", dry_run: true, older_than: 1 day}'
  Compacts the storage of materialized views where that pays, and drops and expires what no version of them reads.
#}
{% macro maintain_materialized_views(select=none, dry_run=false, older_than='1 day', format='table') %}
  {%- do print(adapter.maintain_materialized_views(select, dry_run, older_than, format)) -%}
{% endmacro %}
