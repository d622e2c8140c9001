"""What a batch of episodes teaches: `ppo`, `grpo`, `dpo`. Losses and advantages only."""
