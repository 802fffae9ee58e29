"""Which plans are right for what changed, which is chosen, and the sentence that says why."""
