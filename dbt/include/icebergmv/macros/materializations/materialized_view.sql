{#
  One statement of the framework does not fit here: a refresh is several Iceberg commits of which the last, the view's,
  is the atomic point. So the scenario is chosen as dbt chooses it, with its log texts, and the work is the engine's.
#}
{% materialization materialized_view, adapter='icebergmv' %}

  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type=this.MaterializedView) -%}
  {%- set grant_config = config.get('grants') -%}

  {%- do icebergmv_run_pre_hooks(pre_hooks) -%}

  {%- set inspection = adapter.inspect_materialized_view(model, compiled_code, target_relation, should_full_refresh()) -%}

  {%- if icebergmv_materialized_view_proceeds(existing_relation, target_relation, inspection) -%}
    {#- The adapter calls the contract's macro, and only when it must: the macro asks Spark. -#}
    {%- set refreshed = adapter.refresh_materialized_view(inspection, model, get_assert_columns_equivalent) -%}
    {%- do store_result('main', response=refreshed.response) -%}
    {%- do write(refreshed.sql) -%}
    {%- if existing_relation is not none and existing_relation.type != target_relation.type -%}
      {%- do adapter.cache_dropped(existing_relation) -%}
    {%- endif -%}
    {%- do apply_grants(target_relation, grant_config, should_revoke(existing_relation, full_refresh_mode=True)) -%}
  {%- else -%}
    {%- do store_result('main', response=adapter.leave_materialized_view(inspection)) -%}
  {%- endif -%}

  {%- do icebergmv_run_post_hooks(post_hooks) -%}

  {{ return({'relations': [target_relation]}) }}

{% endmaterialization %}


{% macro icebergmv_materialized_view_proceeds(existing_relation, target_relation, inspection) %}
  {#- Log the scenario, and return whether anything is to be done: `continue` leaves a changed view as it is. -#}
  {%- set changes = inspection.changes -%}
  {%- if existing_relation is none -%}
    {%- do log('Applying CREATE to: ' ~ target_relation) -%}
  {%- elif should_full_refresh() or not existing_relation.is_materialized_view -%}
    {%- do log('Applying REPLACE to: ' ~ target_relation) -%}
  {%- elif not (changes.rebuild or changes.alter) -%}
    {%- do log('Applying REFRESH to: ' ~ target_relation) -%}
  {%- else -%}
    {%- set decision = adapter.decide_on_change(inspection, config.get('on_configuration_change')) -%}
    {%- if decision == 'go on' -%}
      {%- set is_built = changes.rebuild or inspection.lost -%}
      {%- do log('Applying ' ~ ('REPLACE' if is_built else 'ALTER') ~ ' to: ' ~ target_relation) -%}
    {%- elif decision == 'leave' -%}
      {#- The sentence of dbt's framework, which quotes a quoted name, is for those who look for it in the log. -#}
      {%- do log("Configuration changes were identified and `on_configuration_change` was set to `continue` for `" ~ target_relation ~ "`") -%}
      {{ return(false) }}
    {%- else -%}
      {%- do log("Configuration changes were identified and `on_configuration_change` was set to `fail` for `" ~ target_relation ~ "`") -%}
      {%- do exceptions.raise_fail_fast_error(adapter.refused_change(inspection)) -%}
    {%- endif -%}
  {%- endif -%}
  {{ return(true) }}
{% endmacro %}
