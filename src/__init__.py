"""AskGate: train a model that asks a clarifying question only when it must."""

__version__ = "0.1.0"
