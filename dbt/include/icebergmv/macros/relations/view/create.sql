{% macro icebergmv__create_view_as(relation, sql) -%}
  create or replace view {{ relation }}
  {% if config.persist_column_docs() and model.columns -%}
    {%- set names = get_columns_in_query(sql) -%}
    {%- set documented = validate_doc_columns(relation, model.columns, names) %}
    (
    {%- for name in names %}
      {%- set description = icebergmv_described(documented, name) %}
      {{ adapter.quote(name) }}{% if description %} comment {{ adapter.string_literal(description) }}{% endif %}
      {{- ',' if not loop.last }}
    {%- endfor %}
    )
  {%- endif %}
  {{ comment_clause() }}
  {{ tblproperties_clause() }}
  {%- set contract = config.get('contract') -%}
  {%- if contract and contract.enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
  {%- endif %}
  as
    {{ icebergmv_view_query(sql) }}
{%- endmacro %}


{#
  A view takes its columns by their places. Where they are those of a table (`select *`), they are named: the table may
  be made anew with its columns in another order.
#}
{% macro icebergmv_view_query(sql) -%}
  {%- set query = adapter.without_semicolon(sql) -%}
  {%- if not adapter.takes_columns_of_tables(query) -%}
    {{ return(sql) }}
  {%- endif -%}
  {%- set names = [] -%}
  {#- dbt's get_columns_in_query gives the second of two columns of one name another one. -#}
  {%- for column in get_column_schema_from_query(query) -%}
    {%- do names.append(column.quoted) -%}
  {%- endfor -%}
  {%- if names | map('lower') | unique | list | length < names | length -%}
    {#- No view has two columns of one name. Spark's own error names them. -#}
    {{ return(sql) }}
  {%- endif -%}
select {{ names | join(', ') }}
from (
{{ query }}
)
{%- endmacro %}
