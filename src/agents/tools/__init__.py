"""Tools that a policy may call: `wiki` and `calc`."""

from .calc import calc
from .wiki import wiki

__all__ = ["calc", "wiki"]
