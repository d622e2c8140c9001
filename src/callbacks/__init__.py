"""What watches a run: figures, episodes, checkpoints, evaluation, the watch on reward hacking, and how it ends."""
