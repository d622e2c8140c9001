"""From samples to what a model reads."""
