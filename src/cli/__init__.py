"""Command line: `askgate VERB`, and the same verbs as scripts."""

from .app import door, main, scorecache_cli

__all__ = ["door", "main", "scorecache_cli"]
