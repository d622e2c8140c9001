"""Release of models and runs: GGUF export, evaluation, reproduction packages, signatures."""
