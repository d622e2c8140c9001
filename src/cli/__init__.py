"""Command line: `askgate VERB`, and the same verbs as scripts."""

from .app import main, run_verb, scorecache_cli

__all__ = ["main", "run_verb", "scorecache_cli"]
