"""Evaluation of a policy: metrics over episodes, and the comparison with its base."""
