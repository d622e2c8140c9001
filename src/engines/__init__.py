"""Who holds the model, makes episodes and takes steps: `pure_pt` and `trl_ppo`."""
