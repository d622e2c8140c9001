"""`python -m src.cli VERB`, for a checkout that is not installed."""

from . import main

main()
