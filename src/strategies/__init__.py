"""Strategies: PPO, GRPO and DPO turn a batch of episodes into targets and a loss.

Their only state is the adaptive KL coefficient and the metrics of the last batch. A loss is a sum over the policy
tokens of a minibatch, divided by the batch's `divisor` or else by their number. The weight of an episode scales its
part of the sum; the sum is not divided by the weights.

Tensor names carry their shape: `N` policy tokens of all episodes concatenated, `E` episodes, `G` groups of episodes.
"""
