{#
  The code of a Python model, which ends with a temporary view of its DataFrame. The materialization runs it and then
  reads that view, so whatever follows is the same for both languages. `computed`: the rows are computed once and kept
  by the executors; a MERGE cannot read a view of a DataFrame over tables ("No plan for TableReference", Spark 4.1).
#}
{% macro icebergmv_python_model(compiled_code, temporary, computed=false) -%}
{{ compiled_code }}
spark_frame(model(dbtObj(spark.table), spark)){{ '.localCheckpoint()' if computed }}.createOrReplaceTempView({{ temporary.identifier | tojson }})
{%- endmacro %}
