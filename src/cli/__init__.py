"""The door of the house: `askgate VERB`, and the same verbs behind the scripts' names."""

from .app import door, main, scorecache_cli

__all__ = ["door", "main", "scorecache_cli"]
