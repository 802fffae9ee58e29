{% materialization view, adapter='icebergmv' -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- do icebergmv_run_hooks(pre_hooks, false) -%}
  {%- if existing_relation is not none and existing_relation.is_materialized_view -%}
    {#- Replacing it in place would leave its storage table and its properties behind. A broken contract is an error first. -#}
    {%- set checked = get_create_view_as_sql(this.incorporate(type='view'), sql) -%}
    {%- do icebergmv_make_way(existing_relation, sql) -%}
  {%- endif -%}
  {%- set built = create_or_replace_view() -%}
  {%- do icebergmv_run_hooks(post_hooks, false) -%}
  {{ return(built) }}
{%- endmaterialization %}
