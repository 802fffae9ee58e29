"""The plan with what Spark answers: which output rows the changed rows reach."""
