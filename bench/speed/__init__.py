"""How fast kbdb is beside its peers: corpus, engines, measures, tables and the gate; see README.md."""
