"""The board: a small read-only server on this machine that shows a run, live. It writes nothing but its own index."""
