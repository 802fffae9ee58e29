{#
  Hooks outside a transaction come before all others, and behind them: `before_begin`, `after_commit`, and those with
  `transaction: false`. dbt's own macro, in whose place this is, sends `commit;` before them, which Spark does not know.
#}
{% macro run_hooks(hooks, inside_transaction=True) -%}
  {%- for hook in hooks | selectattr('transaction', 'equalto', inside_transaction) -%}
    {%- set sql = render(hook.get('sql')) | trim -%}
    {%- if sql -%}
      {%- call statement(auto_begin=inside_transaction) -%}
        {{ sql }}
      {%- endcall -%}
    {%- endif -%}
  {%- endfor -%}
{%- endmacro %}


{% macro icebergmv_run_pre_hooks(hooks) -%}
  {%- do run_hooks(hooks, false) -%}
  {%- do run_hooks(hooks, true) -%}
{%- endmacro %}


{% macro icebergmv_run_post_hooks(hooks) -%}
  {%- do run_hooks(hooks, true) -%}
  {%- do run_hooks(hooks, false) -%}
{%- endmacro %}
