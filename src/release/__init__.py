"""What leaves the house: a model in GGUF, checked against the one that was trained."""
