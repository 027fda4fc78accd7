"""Sources in, documents out: pure functions over bytes and text, and the walk over folders; no store."""
