{% materialization view, adapter='icebergmv' -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- if existing_relation is not none and existing_relation.is_materialized_view -%}
    {#- Replacing it in place would leave its storage table and its properties behind. -#}
    {{ adapter.drop_relation(existing_relation) }}
  {%- endif -%}
  {{ return(create_or_replace_view()) }}
{%- endmaterialization %}
