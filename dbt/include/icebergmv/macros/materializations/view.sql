{% materialization view, adapter='icebergmv' -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- do icebergmv_run_hooks(pre_hooks, false) -%}
  {%- if existing_relation is not none and existing_relation.is_materialized_view -%}
    {#- Replacing it in place would leave its storage table and its properties behind. -#}
    {%- do icebergmv_make_way(existing_relation, sql) -%}
  {%- endif -%}
  {%- set built = create_or_replace_view() -%}
  {%- do icebergmv_run_hooks(post_hooks, false) -%}
  {{ return(built) }}
{%- endmaterialization %}
