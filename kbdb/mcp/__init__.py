"""The MCP layer: speaks the Model Context Protocol to a host over stdin and stdout, and asks the daemon."""
