"""A randomised tester of the planner: random views, random histories of changes, two ways to refresh, one answer."""
