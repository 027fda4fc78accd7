"""Measurements of kbdb, run from the checkout; see README.md."""
