{% macro icebergmv__drop_relation(relation) -%}
  {%- if relation.type == 'materialized_view' -%}
    {#- Asked first: it is written on the view. The view goes first, so that no reader finds it without its rows. -#}
    {%- set storage_table = adapter.storage_table_of(relation) -%}
    {%- set deletes_files = adapter.deletes_files_of(relation) -%}
    {%- if storage_table != relation.render() -%}
      {%- call statement('drop_relation', auto_begin=False) -%}
        drop view if exists {{ relation }}
      {%- endcall -%}
    {%- endif -%}
    {%- if storage_table -%}
      {%- call statement('drop_storage_table', auto_begin=False) -%}
        drop table if exists {{ storage_table }} {{ 'purge' if deletes_files }}
      {%- endcall -%}
    {%- endif -%}
  {%- else -%}
    {%- call statement('drop_relation', auto_begin=False) -%}
      drop {{ 'view' if relation.is_view else 'table' }} if exists {{ relation }}
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}


{#
  Drop a view before a table of its name is made, which it cannot become in place. Spark analyses the SELECT first: no
  view is lost to one with an error.
#}
{% macro icebergmv_make_way(relation, sql) -%}
  {%- call statement('make_way') -%}
    describe query {{ sql }}
  {%- endcall -%}
  {%- do adapter.drop_relation(relation) -%}
{%- endmacro %}


{# Make a table of a SELECT, in place of what had its name (none: nothing had). #}
{% macro icebergmv_build_table(existing, relation, sql) -%}
  {#- A contract that the SELECT breaks is an error of this macro: before anything is dropped. -#}
  {%- set made = create_table_as(False, relation, sql) -%}
  {%- set staged = none -%}
  {%- if existing is not none and existing.is_materialized_view -%}
    {%- set staged = icebergmv_stage(relation, sql) -%}
    {%- set made = create_table_as(False, relation, 'select * from ' ~ staged) -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- elif existing is not none and not existing.is_table -%}
    {%- do icebergmv_make_way(existing, sql) -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ made }}
  {%- endcall -%}
  {%- do icebergmv_unstage(staged) -%}
{%- endmacro %}


{#
  Compute the rows of a table under another name, before a materialized view of its own name is dropped with its stored
  rows: these are not lost to a SELECT that fails when it runs. The rows are copied then: a table that is renamed would
  keep its folder, and some catalogs cannot rename.
#}
{% macro icebergmv_stage(relation, sql) -%}
  {%- set staged = relation.incorporate(path={'identifier': relation.identifier ~ '__dbt_tmp'}, type='table') -%}
  {%- call statement('stage') -%}
    create or replace table {{ staged }} {{ file_format_clause() }} tblproperties ('gc.enabled' = 'true') as
    {{ adapter.without_semicolon(sql) }}
  {%- endcall -%}
  {{ return(staged) }}
{%- endmacro %}


{% macro icebergmv_unstage(staged) -%}
  {%- if staged is not none -%}
    {%- call statement('unstage') -%}
      drop table if exists {{ staged }} purge
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}


{# A table that was a materialized view, and was made anew by something else, is a table like any other. #}
{% macro icebergmv_forget_view(relation) -%}
  {%- set keys = adapter.view_properties_of(relation) -%}
  {%- if keys -%}
    {%- call statement('forget_view') -%}
      alter table {{ relation }} unset tblproperties if exists (
        {%- for key in keys %}{{ adapter.string_literal(key) }}{{ ', ' if not loop.last }}{% endfor -%}
      )
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}


{# Iceberg takes the new name inside the same catalog. #}
{% macro icebergmv__rename_relation(from_relation, to_relation) -%}
  {%- if from_relation.type not in ('table', 'view') -%}
    {%- do exceptions.raise_compiler_error(
      "Cannot rename " ~ from_relation ~ ": its type is " ~ (from_relation.type or "not known")
      ~ ". Only tables and views can be renamed; rebuild it under the new name.") -%}
  {%- endif -%}
  {%- call statement('rename_relation') -%}
    alter {{ from_relation.type }} {{ from_relation }} rename to {{ to_relation.include(database=false) }}
  {%- endcall -%}
{%- endmacro %}


{#
  A view of the session. All threads share one session: its name ends in a hash of the whole name, and of the node that
  makes it, as unit tests of two models may have one name.
#}
{% macro icebergmv__make_temp_relation(base_relation, suffix='__dbt_tmp') -%}
  {%- set identifier = base_relation.schema ~ '__' ~ base_relation.identifier ~ suffix
    ~ '_' ~ local_md5(base_relation.render() ~ (model.unique_id if model is defined else ''))[:8] -%}
  {%- set temporary = base_relation.incorporate(path={'identifier': identifier}, type='view') -%}
  {{ return(temporary.include(database=false, schema=false)) }}
{%- endmacro %}
