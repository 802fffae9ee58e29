"""Python models: what they may return, and what is said when their code fails."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.python_models import run_model

pandas: Any = pytest.importorskip("pandas", reason="pandas comes with the extra `connect`")


class Frame:
    """A DataFrame of Spark."""

    def __init__(self) -> None:
        self.views: list[str] = []

    def createOrReplaceTempView(self, name: str) -> None:  # noqa: N802 - Spark's name
        self.views.append(name)


class OnSpark:
    """A DataFrame of pandas on Spark."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def to_spark(self) -> Frame:
        return self.frame


class Session:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def createDataFrame(self, data: Any) -> Frame:  # noqa: N802 - Spark's name
        return self.frame


def views_of(given: str) -> list[str]:
    """Run a model that returns `given`; return the temporary views that were made of its rows."""
    frame = Frame()
    session: Any = Session(frame)
    session.objects = {"frame": frame, "on_spark": OnSpark(frame), "pandas": pandas.DataFrame({"a": [1]})}
    code = f"def model(spark):\n    return {given}\nspark_frame(model(spark)).createOrReplaceTempView('v')"
    run_model(code, "m", session)
    return frame.views


@pytest.mark.parametrize("given", ["frame", "on_spark", "pandas"])
def test_a_model_returns_a_frame_of_spark_or_pandas(given: str) -> None:
    assert views_of(f"spark.objects['{given}']") == ["v"]


def test_another_result_is_refused() -> None:
    with pytest.raises(DbtRuntimeError, match=r"The Python model m returned list\. Return a DataFrame"):
        views_of("[1]")


def test_a_failure_names_the_model_and_the_line() -> None:
    with pytest.raises(DbtRuntimeError, match=r"The Python model m failed in line 2 .*ZeroDivisionError"):
        views_of("1 / 0")


def test_code_that_is_no_python_names_the_model() -> None:
    session: Any = Session(Frame())
    with pytest.raises(DbtRuntimeError, match=r"The Python model m failed.*SyntaxError"):
        run_model("def model(", "m", session)
