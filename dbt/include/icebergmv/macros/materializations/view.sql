{% materialization view, adapter='icebergmv' -%}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set grant_config = config.get('grants') -%}

  {%- do icebergmv_run_pre_hooks(pre_hooks) -%}

  {%- if existing_relation is not none and not existing_relation.is_view -%}
    {#- Replaced in place, a materialized view would leave its storage table and its properties behind. -#}
    {%- do icebergmv_try_view(target_relation, sql) -%}
    {%- do adapter.drop_relation(existing_relation) -%}
  {%- endif -%}

  {%- call statement('main') -%}
    {{ get_create_view_as_sql(target_relation, sql) }}
  {%- endcall -%}

  {%- do apply_grants(target_relation, grant_config, should_revoke(existing_relation, full_refresh_mode=True)) -%}

  {%- do icebergmv_run_post_hooks(post_hooks) -%}

  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}


{# Make the view under another name before what has its own is dropped, so that nothing is lost if it cannot be made. #}
{% macro icebergmv_try_view(relation, sql) -%}
  {%- set trial = relation.incorporate(path={'identifier': relation.identifier ~ '__dbt_tmp'}) -%}
  {%- call statement('try_view') -%}
    {{ get_create_view_as_sql(trial, sql) }}
  {%- endcall -%}
  {%- do adapter.drop_relation(trial) -%}
{%- endmacro %}
