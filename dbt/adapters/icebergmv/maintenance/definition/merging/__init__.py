"""Whose changes can be merged into groups, by which states; and the rows below groups that cannot."""
