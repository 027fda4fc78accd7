"""How quickly a daemon answers, one client and many, at rest and while it learns, and what it holds in memory."""
