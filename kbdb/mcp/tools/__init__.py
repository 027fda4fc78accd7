"""The tools, one file for each or for a family: what a tool takes and gives, and next to it what it does."""
