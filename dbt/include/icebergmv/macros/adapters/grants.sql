{# Spark has no GRANT for an Iceberg catalog. The adapter has warned of it before the run. #}
{% macro icebergmv__apply_grants(relation, grant_config, should_revoke) -%}
{%- endmacro %}
