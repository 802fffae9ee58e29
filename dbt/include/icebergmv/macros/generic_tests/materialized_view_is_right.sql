{#
  The stored rows of a materialized view are those of its SELECT, at the snapshots of its tables that the last refresh
  read. Returns the rows that differ, where each is missing, and how often.
#}
{% test materialized_view_is_right(model) %}
  {{- adapter.materialized_view_wrong_rows(model) -}}
{% endtest %}
