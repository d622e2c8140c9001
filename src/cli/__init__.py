"""Command line: `askgate COMMAND`, and the same commands as scripts."""

from .app import main, run_verb, scorecache_cli

__all__ = ["main", "run_verb", "scorecache_cli"]
