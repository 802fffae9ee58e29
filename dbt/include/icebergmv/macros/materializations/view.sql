{% materialization view, adapter='icebergmv' -%}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set grant_config = config.get('grants') -%}

  {%- do icebergmv_run_pre_hooks(pre_hooks) -%}

  {#- A contract that the SELECT breaks is an error of this macro: before anything is dropped. -#}
  {%- set made = get_create_view_as_sql(target_relation, sql) -%}
  {%- if existing_relation is not none and not existing_relation.is_view -%}
    {#- Replaced in place, a materialized view would leave its storage table and its properties behind. -#}
    {%- do icebergmv_make_way(existing_relation, sql) -%}
  {%- endif -%}

  {%- call statement('main') -%}
    {{ made }}
  {%- endcall -%}

  {%- do apply_grants(target_relation, grant_config, should_revoke(existing_relation, full_refresh_mode=True)) -%}

  {%- do icebergmv_run_post_hooks(post_hooks) -%}

  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}
