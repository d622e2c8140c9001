"""Engines `pure_pt` and `trl_ppo`: they own the model, roll out episodes and update weights."""
