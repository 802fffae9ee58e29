"""What is said of an error of Spark, whichever way it came."""

from __future__ import annotations

from dbt_common.exceptions import DbtDatabaseError
from pyspark.errors import PySparkException

from dbt.adapters.icebergmv.spark.errors import ServerLost, database_error, is_lost, spark_message

RPC = """<_MultiThreadedRendezvous of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "Connection refused by s3cret!"
\tdebug_error_string = "…"
>"""


def test_stack_and_plan_are_left_out() -> None:
    assert spark_message(PySparkException("No such table\n\tat org.apache.X(Y.scala:1)")) == "No such table"


def test_a_lost_server_is_told_with_the_mend_and_without_secrets() -> None:
    error = PySparkException(RPC)
    assert is_lost(error)
    assert spark_message(error) == "Connection refused by s3cret!"
    found = database_error(error, ["s3cret!"])
    assert isinstance(found, ServerLost)
    assert str(found.msg) == (
        "The connection to the Spark Connect server was lost (Connection refused by *****). "
        "Check the server, then run again; a view shows its last refresh until a new one is finished."
    )


def test_a_session_that_the_server_has_forgotten_is_lost() -> None:
    assert is_lost(PySparkException("[NO_ACTIVE_SESSION] No active Spark session found."))
    assert is_lost(PySparkException("[INVALID_HANDLE.SESSION_CHANGED] The handle is invalid."))
    assert not is_lost(PySparkException("[TABLE_OR_VIEW_NOT_FOUND] No such table."))


def test_an_error_of_dbt_keeps_its_own_words() -> None:
    assert spark_message(DbtDatabaseError("refused")) == "refused"


def test_storage_that_was_dropped_is_told_by_the_name_of_its_view() -> None:
    missing = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `lake`.`a`.`{}` cannot be found. Verify the spelling."
    assert spark_message(PySparkException(missing.format("__mv_storage__daily"))) == (
        missing.format("__mv_storage__daily") + "\nA table of this name holds the rows of the materialized view daily. "
        "If it was dropped, run that model again."
    )
    assert spark_message(PySparkException(missing.format("daily"))) == missing.format("daily")


def test_a_view_over_a_column_of_a_wider_type_is_to_be_built_again() -> None:
    said = '[CANNOT_UP_CAST_DATATYPE] Cannot up cast weight from "BIGINT" to "INT". SQLSTATE: 42846'
    assert spark_message(PySparkException(said)).endswith("Run the model of that view again.")
