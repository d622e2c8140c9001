"""What a batch of episodes teaches: PPO, GRPO, DPO.

The loss of a part of a batch is a sum over the part divided by its number of policy tokens. An engine may therefore cut
a minibatch into parts of whole groups, weigh each part's loss by its share of the tokens, and get the same gradient
however it cut. The weight of an episode scales what it adds; it is not divided out again.
"""
