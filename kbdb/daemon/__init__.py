"""The process that owns a database and answers its clients."""
