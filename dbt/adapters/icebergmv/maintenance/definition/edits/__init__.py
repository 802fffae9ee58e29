"""A SELECT with parts of its text replaced; everything else stays letter for letter."""
