{#
  The comments of a view, and of its columns, are written when it is created, which is at every run. A table may be older
  than its description.
#}
{% macro icebergmv__persist_docs(relation, model, for_relation, for_columns) -%}
  {%- if for_relation and config.persist_relation_docs() and model.description and not relation.is_view -%}
    {%- if model.description != (adapter.comment_of_table(relation) or '') -%}
      {%- call statement('alter_table_comment') -%}
        comment on table {{ relation }} is {{ adapter.string_literal(model.description) }}
      {%- endcall -%}
    {%- endif -%}
  {%- endif -%}
  {%- if for_columns and config.persist_column_docs() and model.columns and not relation.is_view -%}
    {%- do alter_column_comment(relation, model.columns) -%}
  {%- endif -%}
{%- endmacro %}


{# Each comment is a commit of its own, so only those that differ are written. #}
{% macro icebergmv__alter_column_comment(relation, column_dict) -%}
  {%- set columns = adapter.get_columns_in_relation(relation) -%}
  {%- set documented = validate_doc_columns(relation, column_dict, columns | map(attribute='name') | list) -%}
  {%- for column in columns -%}
    {%- set description = icebergmv_described(documented, column.name) -%}
    {%- if description is not none and description != (column.comment or '') -%}
      {%- call statement('alter_column_comment') -%}
        alter table {{ relation.render() }} alter column {{ column.quoted }}
          comment {{ adapter.string_literal(description) }}
      {%- endcall -%}
    {%- endif -%}
  {%- endfor -%}
{%- endmacro %}


{# The description of a column, none when it has no entry. As in dbt, only a quoted name has a case. #}
{% macro icebergmv_described(documented, name) -%}
  {%- for key, entry in documented.items() -%}
    {%- if key == name or (not entry['quote'] and key | lower == name | lower) -%}
      {{ return(entry['description'] or '') }}
    {%- endif -%}
  {%- endfor -%}
  {{ return(none) }}
{%- endmacro %}
