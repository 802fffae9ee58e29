{# CREATE OR REPLACE is one Iceberg commit: readers see the old table or the new one. #}
{% macro icebergmv__create_table_as(temporary, relation, compiled_code, language='sql') -%}
  {%- if temporary -%}
    create or replace temporary view {{ relation }} as
      {{ compiled_code }}
  {%- else -%}
    create or replace table {{ relation }}
    {% set contract = config.get('contract') -%}
    {%- if contract and contract.enforced -%}
      {{ get_assert_columns_equivalent(compiled_code) }}
      {%- set compiled_code = get_select_subquery(compiled_code) -%}
    {%- endif -%}
    {{ file_format_clause() }}
    {{ options_clause() }}
    {{ tblproperties_clause() }}
    {{ partition_cols(label="partitioned by") }}
    {{ clustered_cols(label="clustered by") }}
    {{ location_clause() }}
    {{ comment_clause() }}
    as
    {{ compiled_code }}
  {%- endif -%}
{%- endmacro %}
