"""Where a SELECT reads the clock, its values there, and which rows another value reaches."""
