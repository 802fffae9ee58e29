{#
  dbt-spark's, with five differences that it has no hook for: a materialized view in the way is dropped, the temporary
  view has the schema in its name and is dropped after use, the check of strategies asks for no file format, the
  statement names its columns, and a project can have strategies of its own.
#}
{% materialization incremental, adapter='icebergmv', supported_languages=['sql', 'python'] -%}
  {%- set strategy = config.get('incremental_strategy') or 'append' -%}
  {%- set custom = icebergmv_custom_strategy(strategy, context) -%}
  {%- if custom is none and strategy not in adapter.valid_incremental_strategies() -%}
    {%- do exceptions.raise_compiler_error(
      "Cannot build " ~ this ~ ": the incremental strategy '" ~ strategy ~ "' is not known. Use one of "
      ~ adapter.valid_incremental_strategies() | join(', ')
      ~ '. For one of your own, dbt could not find an incremental strategy macro with the name "'
      ~ icebergmv_strategy_macro(strategy) ~ '".') -%}
  {%- elif strategy == 'microbatch' and not config.get('partition_by') -%}
    {%- do exceptions.raise_compiler_error(
      "Cannot build " ~ this ~ ": a batch replaces its own rows, which Iceberg finds by the partitions of their files, "
      ~ "and the model has none. Set `partition_by` to a column or a transform of the size of a "
      ~ config.get('batch_size') ~ ".") -%}
  {%- endif -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- set grant_config = config.get('grants') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set rebuild = existing_relation is none or not existing_relation.is_table or should_full_refresh() -%}

  {%- set temporary = make_temp_relation(this) -%}

  {%- do icebergmv_run_pre_hooks(pre_hooks) -%}

  {%- set is_python = model['language'] == 'python' -%}
  {%- if is_python -%}
    {%- call statement('python_model', language='python') -%}
{{ icebergmv_python_model(compiled_code, temporary, computed=not rebuild) }}
    {%- endcall -%}
    {%- set compiled_code = 'select * from ' ~ temporary -%}
  {%- endif -%}

  {%- if rebuild -%}
    {%- if strategy == 'microbatch' and model.batch -%}
      {#- Every later batch needs the time that the SELECT shows: an error before anything is built. -#}
      {%- set shown = get_column_schema_from_query(adapter.without_semicolon(compiled_code)) -%}
      {%- do adapter.batch_condition(target_relation, shown, config.get('event_time'), model.batch) -%}
    {%- endif -%}
    {%- do icebergmv_build_table(existing_relation, target_relation, compiled_code) -%}
  {%- else -%}
    {%- if not is_python -%}
      {%- call statement('create_tmp_relation') -%}
        {{ create_table_as(True, temporary, compiled_code) }}
      {%- endcall -%}
    {%- endif -%}
    {%- set columns = process_schema_changes(on_schema_change, temporary, existing_relation)
      or adapter.get_columns_in_relation(existing_relation) -%}
    {%- call statement('main') -%}
      {%- if custom is not none %}
      {{ custom(icebergmv_strategy_arguments(temporary, target_relation, columns)) }}
      {%- else %}
      {{ icebergmv_incremental_sql(strategy, temporary, target_relation, columns) }}
      {%- endif %}
    {%- endcall -%}
  {%- endif -%}
  {%- if is_python or not rebuild -%}
    {%- do adapter.drop_relation(temporary) -%}
  {%- endif -%}

  {%- do apply_grants(target_relation, grant_config, should_revoke(existing_relation, full_refresh_mode=rebuild)) -%}
  {%- do persist_docs(target_relation, model) -%}

  {%- do icebergmv_run_post_hooks(post_hooks) -%}

  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}
