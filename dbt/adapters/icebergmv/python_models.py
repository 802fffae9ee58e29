"""Python models: `def model(dbt, session)` returns a DataFrame, which the materialization reads as a temporary view."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.spark.errors import spark_errors

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.spark.cursor import Frame, Session


def run_model(code: str, name: str, session: Session) -> None:
    """Run the compiled code of a model, which names its temporary view itself (macros/materializations/python.sql).

    Raises DbtRuntimeError with the line of the model that failed; what Spark raises is passed on.
    """
    file = f"{name}.py"

    def spark_frame(given: Any) -> Frame:
        return _spark_frame(given, name, session)

    try:
        exec(compile(code, file, "exec"), {"__name__": name, "spark": session, "spark_frame": spark_frame})  # noqa: S102
    except (DbtRuntimeError, *spark_errors()):
        raise
    except Exception as error:
        # A model is the user's own code and may raise anything.
        lines = [frame.lineno for frame in traceback.extract_tb(sys.exc_info()[2]) if frame.filename == file]
        place = f" in line {lines[-1]} of its compiled code" if lines else ""
        raise DbtRuntimeError(
            f"The Python model {name} failed{place}: {type(error).__name__}: {error}. Correct it, then run again."
        ) from error


def _spark_frame(given: Any, name: str, session: Session) -> Frame:
    """Return what a model returned as a DataFrame of the session: of Spark, pandas, or pandas on Spark."""
    if hasattr(given, "createOrReplaceTempView"):
        frame: Frame = given
        return frame
    if hasattr(given, "to_spark"):
        converted: Frame = given.to_spark()
        return converted
    if type(given).__module__.partition(".")[0] == "pandas":
        return session.createDataFrame(given)
    raise DbtRuntimeError(
        f"The Python model {name} returned {type(given).__name__}. Return a DataFrame of Spark or of pandas."
    )
