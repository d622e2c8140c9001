"""Strategies: PPO, GRPO and DPO as pure functions from a batch of episodes to targets and a loss.

The loss of a part of a batch is a sum over the part divided by its number of policy tokens. So an engine may split a
minibatch into parts of whole groups, weight each part's loss by its share of the tokens, and get the same gradient for
every split. The weight of an episode scales what it adds to the loss; the sum is not divided by the weights.

Tensor names carry their shape: `N` policy tokens of all episodes end to end, `E` episodes, `G` groups of episodes.
"""
