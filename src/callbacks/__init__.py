"""Callbacks of a training run: logs, checkpoints, evaluation, TensorBoard, and the watch on reward hacking."""
