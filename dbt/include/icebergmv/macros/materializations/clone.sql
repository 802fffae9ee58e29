{# dbt's own clone: Iceberg has no shallow clone, so every clone is a view of the original. #}
{% materialization clone, adapter='icebergmv' -%}
  {%- if defer_relation and defer_relation.render() == this.render() and load_cached_relation(this) is not none -%}
    {#- With --full-refresh, dbt's clone would replace the original by a view of itself. -#}
    {{ log("Target relation and defer relation are the same, skipping clone for relation: " ~ this.render()) }}
    {{ return({'relations': [this]}) }}
  {%- endif -%}
  {{ return(materialization_clone_default()) }}
{%- endmaterialization %}


{% macro icebergmv__can_clone_table() -%}
  {{ return(False) }}
{%- endmacro %}
