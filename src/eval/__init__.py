"""How good a policy is: metrics over episodes, and the comparison with its base."""
