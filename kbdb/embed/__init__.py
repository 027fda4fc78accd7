"""Text to vectors: providers behind one interface (``kbdb.embed.api``); loads nothing by itself."""
