"""Helpers that know nothing of AskGate."""
