{# The comments of relation, and of a view's columns, are written when it is created; what is left is a table's columns. #}
{% macro icebergmv__persist_docs(relation, model, for_relation, for_columns) -%}
  {%- if for_columns and config.persist_column_docs() and model.columns and not relation.is_view -%}
    {%- do icebergmv__alter_column_comment(relation, model.columns) -%}
  {%- endif -%}
{%- endmacro %}


{# Each comment is a commit of its own, so only those that differ are written. #}
{% macro icebergmv__alter_column_comment(relation, column_dict) -%}
  {%- for column in adapter.get_columns_in_relation(relation) -%}
    {%- set documented = column_dict.get(column.name) -%}
    {%- if documented and (documented['description'] or '') != (column.comment or '') -%}
      {%- call statement('alter_column_comment') -%}
        alter table {{ relation }} alter column {{ column.quoted }}
          comment {{ icebergmv__string_literal(documented['description'] or '') }}
      {%- endcall -%}
    {%- endif -%}
  {%- endfor -%}
{%- endmacro %}


{# No constraint reaches an Iceberg table; dbt warns of it when the model is parsed. #}
{% macro icebergmv__persist_constraints(relation, model) -%}
{%- endmacro %}
