"""AskGate's environment: tasks in which a policy uses tools, and asks a clarifying question only when it must."""

__version__ = "0.1.0"
