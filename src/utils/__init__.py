"""What knows nothing of AskGate: it could stand in any program."""
