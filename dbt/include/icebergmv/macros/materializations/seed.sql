{#
  A seed that is loaded again keeps its table, emptied: what reads it stays valid, and a materialized view on it sees
  which partitions changed. It is replaced only when its columns are others now.
#}
{% macro icebergmv__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
  {%- set wanted = icebergmv_seed_columns(agate_table) -%}
  {%- set found = [] -%}
  {%- for column in adapter.get_columns_in_relation(old_relation) -%}
    {%- do found.append([column.name, column.dtype | lower]) -%}
  {%- endfor -%}
  {%- if full_refresh or found != wanted -%}
    {{ return(create_csv_table(model, agate_table)) }}
  {%- endif -%}
  {%- do adapter.truncate_relation(old_relation) -%}
  {{ return('truncate table ' ~ old_relation) }}
{%- endmacro %}


{% macro icebergmv__create_csv_table(model, agate_table) -%}
  {%- set sql -%}
    create or replace table {{ this }} (
      {%- for name, type in icebergmv_seed_columns(agate_table) %}
      {{ adapter.quote(name) }} {{ type }}{{ ',' if not loop.last }}
      {%- endfor %}
    )
    {{ file_format_clause() }}
    {{ partition_cols(label="partitioned by") }}
    {{ location_clause() }}
    {{ comment_clause() }}
    {{ tblproperties_clause() }}
  {%- endset -%}
  {%- call statement('_') -%}
    {{ sql }}
  {%- endcall -%}
  {{ return(sql) }}
{%- endmacro %}


{# The columns of a CSV file as [name, type], types given in `column_types` first. #}
{% macro icebergmv_seed_columns(agate_table) -%}
  {%- set given = config.get('column_types') or {} -%}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- do columns.append([name | string, given.get(name, adapter.convert_type(agate_table, loop.index0)) | lower]) -%}
  {%- endfor -%}
  {{ return(columns) }}
{%- endmacro %}
