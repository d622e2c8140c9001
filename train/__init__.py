"""Doors to training."""
