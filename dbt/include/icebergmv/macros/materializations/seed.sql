{#
  dbt's own, with one difference: a file whose rows are in the table already is not loaded. Hooks, grants and docs are
  as after a load.
#}
{% materialization seed, adapter='icebergmv' -%}
  {%- set full_refresh_mode = should_full_refresh() -%}
  {%- set old_relation = adapter.get_relation(database=database, schema=schema, identifier=model['alias']) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set grant_config = config.get('grants') -%}
  {%- set agate_table = load_agate_table() -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}

  {%- do icebergmv_run_pre_hooks(pre_hooks) -%}

  {%- if old_relation is not none and not old_relation.is_table -%}
    {{ exceptions.raise_compiler_error("Cannot seed to '{}', it is a view".format(old_relation.render())) }}
  {%- endif -%}

  {%- set rows = agate_table.rows | length -%}
  {%- set load = adapter.seed_load(icebergmv_seed_columns(agate_table), agate_table, icebergmv_seed_clauses()) -%}
  {%- set unchanged = not full_refresh_mode and adapter.is_seed_loaded(target_relation, load) -%}
  {%- if unchanged -%}
    {%- call noop_statement('main', 'UNCHANGED ' ~ rows, 'UNCHANGED', 0) -%}
      -- the table holds the rows of the file already
    {%- endcall -%}
  {%- else -%}
    {{ icebergmv_load_seed(old_relation, agate_table, full_refresh_mode) }}
    {{ icebergmv_record_seed(target_relation, load) }}
  {%- endif -%}

  {%- do apply_grants(target_relation, grant_config, should_revoke(old_relation, full_refresh_mode)) -%}
  {%- do persist_docs(target_relation, model) -%}

  {%- do icebergmv_run_post_hooks(post_hooks) -%}

  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}


{% macro icebergmv_load_seed(old_relation, agate_table, full_refresh) -%}
  {%- if old_relation is none -%}
    {%- set prepared = create_csv_table(model, agate_table) -%}
  {%- else -%}
    {%- set prepared = reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
  {%- endif -%}
  {%- set rows = agate_table.rows | length -%}
  {%- set loaded = load_csv_rows(model, agate_table) if rows else '' -%}
  {%- set code = 'CREATE' if full_refresh else 'INSERT' -%}
  {%- call noop_statement('main', code ~ ' ' ~ rows, code, rows) -%}
    {{ get_csv_sql(prepared, loaded) }};
  {%- endcall -%}
{%- endmacro %}


{# Write with the table what was loaded, once the rows are there. #}
{% macro icebergmv_record_seed(relation, load) -%}
  {%- set properties = adapter.seed_properties(relation, load, invocation_id) -%}
  {%- if properties -%}
    {%- call statement('record_seed') -%}
      alter table {{ relation }} set tblproperties (
        {%- for key, value in properties.items() %}
        {{ adapter.string_literal(key) }} = {{ adapter.string_literal(value) }}{{ ',' if not loop.last }}
        {%- endfor %}
      )
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}


{# dbt-spark's; each commit says which load it belongs to. #}
{% macro icebergmv__load_csv_rows(model, agate_table) -%}
  {%- set types = icebergmv_seed_columns(agate_table) | map(attribute=1) | list -%}
  {%- set property = adapter.quote('snapshot-property.icebergmv.seed-load') -%}
  {%- set statements = [] -%}
  {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
    {%- set bindings = [] -%}
    {%- for row in chunk -%}
      {%- do bindings.extend(row) -%}
    {%- endfor -%}
    {%- set sql -%}
      insert into {{ this.render() }} with ({{ property }} = {{ adapter.string_literal(invocation_id) }}) values
      {% for row in chunk -%}
        ({%- for type in types -%}
          cast({{ get_binding_char() }} as {{ type }}){{ ',' if not loop.last }}
        {%- endfor -%}){{ ',' if not loop.last }}
      {%- endfor -%}
    {%- endset -%}
    {%- do adapter.add_query(sql, bindings=bindings, abridge_sql_log=True) -%}
    {%- do statements.append(sql) if loop.first -%}
  {%- endfor -%}
  {{ return(statements[0]) }}
{%- endmacro %}


{#
  A seed that is loaded again keeps its table, emptied: what reads it stays valid, and a materialized view on it sees
  which partitions changed. It is replaced only when its columns, or the clauses that it is made with, are others now.
#}
{% macro icebergmv__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
  {%- set wanted = icebergmv_seed_columns(agate_table) -%}
  {%- set found = [] -%}
  {%- for column in adapter.get_columns_in_relation(old_relation) -%}
    {%- do found.append([column.name, column.dtype | lower]) -%}
  {%- endfor -%}
  {%- if full_refresh or found != wanted or not adapter.is_seed_made_with(old_relation, icebergmv_seed_clauses()) -%}
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
    {{ icebergmv_seed_clauses() }}
    {{ comment_clause() }}
  {%- endset -%}
  {%- call statement('_') -%}
    {{ sql }}
  {%- endcall -%}
  {{ return(sql) }}
{%- endmacro %}


{# What a seed's table is made with besides its columns; its comment can be altered. #}
{% macro icebergmv_seed_clauses() -%}
  {{ file_format_clause() }}
  {{ partition_cols(label="partitioned by") }}
  {{ location_clause() }}
  {{ tblproperties_clause() }}
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
