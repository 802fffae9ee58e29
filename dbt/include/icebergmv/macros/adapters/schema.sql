{% macro icebergmv__generate_database_name(custom_database_name=none, node=none) -%}
  {%- do return(adapter.catalog_of(custom_database_name, node)) -%}
{%- endmacro %}


{# dbt-spark's keeps the identifier: Iceberg would take `create_schema(this)` as an order for a nested namespace. #}
{% macro icebergmv__create_schema(relation) -%}
  {%- call statement('create_schema') -%}
    create namespace if not exists {{ relation.without_identifier() }}
  {%- endcall -%}
{%- endmacro %}


{# The adapter has emptied it before: Iceberg does not cascade. #}
{% macro icebergmv__drop_schema(relation) -%}
  {%- call statement('drop_schema') -%}
    drop namespace if exists {{ relation.without_identifier() }}
  {%- endcall -%}
{%- endmacro %}
