{% materialization table, adapter='icebergmv', supported_languages=['sql', 'python'] -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set grant_config = config.get('grants') -%}

  {%- set temporary = make_temp_relation(this) -%}

  {%- do icebergmv_run_pre_hooks(pre_hooks) -%}

  {%- set is_python = model['language'] == 'python' -%}
  {%- if is_python -%}
    {%- call statement('python_model', language='python') -%}
{{ icebergmv_python_model(compiled_code, temporary) }}
    {%- endcall -%}
    {%- set compiled_code = 'select * from ' ~ temporary -%}
  {%- endif -%}

  {#- A contract that the SELECT breaks is an error of this macro: before anything is dropped. -#}
  {%- set made = create_table_as(False, target_relation, compiled_code) -%}
  {%- set staged = none -%}
  {%- if existing_relation is not none and existing_relation.is_materialized_view -%}
    {%- set staged = icebergmv_stage(target_relation, compiled_code) -%}
    {%- set made = create_table_as(False, target_relation, 'select * from ' ~ staged) -%}
    {%- do adapter.drop_relation(existing_relation) -%}
  {%- elif existing_relation is not none and not existing_relation.is_table -%}
    {%- do icebergmv_make_way(existing_relation, compiled_code) -%}
  {%- endif -%}

  {%- call statement('main') -%}
    {{ made }}
  {%- endcall -%}
  {%- do icebergmv_unstage(staged) -%}
  {%- if existing_relation is not none -%}
    {%- do icebergmv_forget_view(target_relation) -%}
  {%- endif -%}
  {%- if is_python -%}
    {%- do adapter.drop_relation(temporary) -%}
  {%- endif -%}

  {%- do apply_grants(target_relation, grant_config, should_revoke(existing_relation, full_refresh_mode=True)) -%}
  {%- do persist_docs(target_relation, model) -%}

  {%- do icebergmv_run_post_hooks(post_hooks) -%}

  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}
