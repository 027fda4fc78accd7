"""The truth files of a database: how each kind is written, read, checked and committed."""
