{#
  dbt run-operation drop_orphaned_storage_tables --args '{dry_run: false, older_than: 1 day, format: json}'
  Storage tables in the schemas of the project that no view reads. They are listed; without dry_run they are dropped.
#}
{% macro drop_orphaned_storage_tables(dry_run=true, older_than='1 day', format='table') %}
  {%- do print(adapter.drop_orphaned_storage_tables(dry_run, older_than, format)) -%}
{% endmacro %}
