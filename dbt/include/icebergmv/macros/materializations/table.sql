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

  {%- do icebergmv_build_table(existing_relation, target_relation, compiled_code) -%}
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
