"""Strategies: PPO, GRPO and DPO turn a batch of episodes into targets and a loss.

Their only state is the adaptive KL coefficient and the metrics of the last batch. A loss is a sum over the policy
tokens of a minibatch, divided by `divisor` of the batch or else by their number. The weight of an episode scales what
it adds to the loss; the sum is not divided by the weights.

Tensor names carry their shape: `N` policy tokens of all episodes end to end, `E` episodes, `G` groups of episodes.
"""
