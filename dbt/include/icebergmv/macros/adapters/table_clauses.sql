{% macro icebergmv__file_format_clause() -%}
  using {{ config.get('file_format', 'iceberg') }}
{%- endmacro %}


{% macro icebergmv__tblproperties_clause() -%}
  {%- set properties = config.get('tblproperties') -%}
  {%- if properties %}
    tblproperties (
      {%- for key, value in properties.items() %}
      {{ adapter.string_literal(key) }} = {{ adapter.string_literal(value) }}{{ ',' if not loop.last }}
      {%- endfor %}
    )
  {%- endif -%}
{%- endmacro %}


{% macro icebergmv__comment_clause() -%}
  {%- if config.persist_relation_docs() and model.description %}
    comment {{ adapter.string_literal(model.description) }}
  {%- endif -%}
{%- endmacro %}


{% macro icebergmv__location_clause() -%}
  {%- set root = config.get('location_root') -%}
  {%- if root %}
    location {{ adapter.string_literal(root ~ '/' ~ model['alias']) }}
  {%- endif -%}
{%- endmacro %}
