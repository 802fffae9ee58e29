{# dbt's own snapshot: every Iceberg table can be merged into, so dbt-spark's checks of the file format are not needed. #}
{% materialization snapshot, adapter='icebergmv' -%}
  {{ return(materialization_snapshot_default()) }}
{%- endmaterialization %}


{% macro icebergmv__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- set current = config.get('dbt_valid_to_current') -%}
  merge into {{ target }} as DBT_INTERNAL_DEST
  using {{ source }} as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}

  when matched
    and (DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null
      {%- if current %} or DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} = {{ current }}{% endif %})
    and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
    then update set {{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}

  when not matched
    and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert'
    then insert ({{ insert_cols | join(', ') }})
    values ({% for column in insert_cols %}DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}
