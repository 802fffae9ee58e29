"""The version of the package, in the place where dbt looks for it."""

version = "0.1.0"
