{% materialization incremental, adapter='icebergmv', supported_languages=['sql'] -%}
  {%- set strategy = config.get('incremental_strategy') or 'append' -%}
  {%- if strategy not in adapter.valid_incremental_strategies() -%}
    {%- do exceptions.raise_compiler_error(
      "Cannot build " ~ this ~ ": the incremental strategy '" ~ strategy ~ "' is not known. Use one of "
      ~ adapter.valid_incremental_strategies() | join(', ') ~ ".") -%}
  {%- endif -%}
  {%- set unique_key = config.get('unique_key') -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- set predicates = config.get('predicates') or config.get('incremental_predicates') -%}
  {%- set grant_config = config.get('grants') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set rebuild = existing_relation is none or not existing_relation.is_table or should_full_refresh() -%}

  {{ run_hooks(pre_hooks) }}

  {%- if rebuild -%}
    {%- if existing_relation is not none and not existing_relation.is_table -%}
      {{ adapter.drop_relation(existing_relation) }}
    {%- endif -%}
    {%- call statement('main') -%}
      {{ create_table_as(False, target_relation, compiled_code) }}
    {%- endcall -%}
  {%- else -%}
    {%- set temporary = make_temp_relation(this) -%}
    {%- call statement('create_tmp_relation') -%}
      {{ create_table_as(True, temporary, compiled_code) }}
    {%- endcall -%}
    {%- do process_schema_changes(on_schema_change, temporary, existing_relation) -%}
    {%- call statement('main') -%}
      {{ dbt_spark_get_incremental_sql(strategy, temporary, target_relation, existing_relation, unique_key, predicates) }}
    {%- endcall -%}
    {%- do adapter.drop_relation(temporary) -%}
  {%- endif -%}

  {%- do apply_grants(target_relation, grant_config, should_revoke(existing_relation, full_refresh_mode=rebuild)) -%}
  {%- do persist_docs(target_relation, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}
