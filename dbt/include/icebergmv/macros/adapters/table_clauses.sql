{% macro icebergmv__string_literal(text) -%}
  '{{ (text | string).replace("\\", "\\\\").replace("'", "\\'") }}'
{%- endmacro %}


{% macro icebergmv__file_format_clause() -%}
  using {{ config.get('file_format', 'iceberg') }}
{%- endmacro %}


{% macro icebergmv__tblproperties_clause() -%}
  {%- set properties = config.get('tblproperties') -%}
  {%- if properties %}
    tblproperties (
      {%- for key, value in properties.items() %}
      {{ icebergmv__string_literal(key) }} = {{ icebergmv__string_literal(value) }}{{ ',' if not loop.last }}
      {%- endfor %}
    )
  {%- endif -%}
{%- endmacro %}


{% macro icebergmv__comment_clause() -%}
  {%- if config.persist_relation_docs() and model.description %}
    comment {{ icebergmv__string_literal(model.description) }}
  {%- endif -%}
{%- endmacro %}


{% macro icebergmv__location_clause() -%}
  {%- set root = config.get('location_root') -%}
  {%- if root %}
    location {{ icebergmv__string_literal(root ~ '/' ~ model['alias']) }}
  {%- endif -%}
{%- endmacro %}
