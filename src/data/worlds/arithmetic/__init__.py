"""The built-in arithmetic world: word problems whose answer is computed by a program, never taken from the text."""

from .problem import make_problem

__all__ = ["make_problem"]
