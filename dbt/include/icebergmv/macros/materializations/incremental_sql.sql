{#
  The statement of a strategy. Unlike dbt-spark's, it names the columns it writes: after `append_new_columns`, the table
  may have some that the model no longer has, which stay empty in new rows.
#}
{% macro icebergmv_incremental_sql(strategy, source, target, columns) -%}
  {%- set names = columns | map(attribute='quoted') | join(', ') -%}
  {%- if strategy == 'merge' -%}
    {%- set predicates = config.get('predicates') or config.get('incremental_predicates') -%}
    {{ get_merge_sql(target, source, config.get('unique_key'), columns, predicates) }}
  {%- elif strategy == 'microbatch' and model.batch -%}
    {{ icebergmv_replace_batch(source, target, columns) }}
  {%- else -%}
    insert {{ 'into' if strategy == 'append' else 'overwrite' }} {{ target }} ({{ names }})
    select {{ names }} from {{ source }}
  {%- endif -%}
{%- endmacro %}


{#
  The rows of one batch give way to new ones, be there any or none. Iceberg drops whole files: one that holds rows of
  other batches besides is an error, and no row is lost. Spark takes no list of columns here.

  Iceberg does not check that new rows are of the batch: others would be stored again by each run. So the time of one
  that is not raises. That is a column and no WHERE: Spark moves a WHERE below joins, to rows that they leave out.
#}
{% macro icebergmv_replace_batch(source, target, columns) -%}
  {%- set written = columns | map(attribute='name') | map('lower') | list -%}
  {%- set stored = adapter.get_columns_in_relation(target) -%}
  {%- set event_time = config.get('event_time') -%}
  {%- set shown = [] -%}
  {%- for column in stored if column.name | lower in written -%}
    {%- do shown.append(column) -%}
  {%- endfor -%}
  {%- set condition = adapter.batch_condition(target, shown, event_time, model.batch) -%}
  {%- set items = [] -%}
  {%- for column in stored -%}
    {%- if column.name | lower == event_time | lower -%}
      {%- do items.append(adapter.time_in_batch(target, column.name, condition)) -%}
    {%- else -%}
      {%- do items.append(column.quoted if column.name | lower in written else 'null') -%}
    {%- endif -%}
  {%- endfor -%}
    insert into {{ target }}
    replace where {{ condition }}
    select {{ items | join(', ') }} from {{ source }}
{%- endmacro %}


{% macro icebergmv__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) -%}
  {{ return(default__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates)) }}
{%- endmacro %}


{# All columns by name; dbt-spark's gives none, for `update set *`. #}
{% macro icebergmv__get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) -%}
  {{ return(default__get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns)) }}
{%- endmacro %}


{# The name of the macro that dbt looks for, for a strategy of the project's own. #}
{% macro icebergmv_strategy_macro(strategy) -%}
  {{ return('get_incremental_' ~ strategy | replace('+', '_') ~ '_sql') }}
{%- endmacro %}


{# The macro of a strategy of the project's own, none where there is none. dbt itself has one for `delete+insert`. #}
{% macro icebergmv_custom_strategy(strategy, context) -%}
  {%- if strategy in adapter.valid_incremental_strategies() or strategy == 'delete+insert' -%}
    {{ return(none) }}
  {%- endif -%}
  {{ return(context.get(icebergmv_strategy_macro(strategy))) }}
{%- endmacro %}


{# What dbt gives such a macro. #}
{% macro icebergmv_strategy_arguments(temporary, target, columns) -%}
  {{ return({
    'target_relation': target,
    'temp_relation': temporary,
    'unique_key': config.get('unique_key'),
    'dest_columns': columns,
    'incremental_predicates': config.get('predicates') or config.get('incremental_predicates'),
  }) }}
{%- endmacro %}
