"""What watches a run: logging, checkpoint, eval_shadow, tensorboard."""
