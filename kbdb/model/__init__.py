"""The values that travel between layers: frozen, typed, the same over Python, CLI, daemon and MCP.

One module for the answers of each kind of verb, so that a command loads only those it shows.
"""
