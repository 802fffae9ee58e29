{#
  tests: [materialized_view_is_fresh] or [materialized_view_is_fresh: {arguments: {within: '2 hours'}}]
  Fails when stored rows are stale for longer than the model's target_lag, or than `within`. What was found in the catalog
  while the test was compiled, which is just before it runs, is all there is in the query.
#}
{% test materialized_view_is_fresh(model, within=none) %}
  {%- set found = adapter.materialized_view_freshness(model, within, run_started_at) -%}
  {%- if execute -%}
    {%- for line in found.said -%}
      {%- do log(line, info=True) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ found.sql }}
{% endtest %}
