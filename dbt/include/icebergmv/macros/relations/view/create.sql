{% macro icebergmv__create_view_as(relation, sql) -%}
  create or replace view {{ relation }}
  {% if config.persist_column_docs() and model.columns -%}
    (
    {%- for name in get_columns_in_query(sql) %}
      {%- set description = model.columns.get(name, {}).get('description') %}
      {{ adapter.quote(name) }}{% if description %} comment {{ icebergmv__string_literal(description) }}{% endif %}
      {{- ',' if not loop.last }}
    {%- endfor %}
    )
  {%- endif %}
  {{ icebergmv__comment_clause() }}
  {{ icebergmv__tblproperties_clause() }}
  {%- set contract = config.get('contract') -%}
  {%- if contract and contract.enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
  {%- endif %}
  as
    {{ sql }}
{%- endmacro %}
