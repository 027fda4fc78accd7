"""kbdb: a second brain for AI agents and for the people who work with them."""
