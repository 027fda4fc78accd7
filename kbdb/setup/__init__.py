"""The set-up layer: puts kbdb's server into the settings of programs that start it, and takes it out again."""
