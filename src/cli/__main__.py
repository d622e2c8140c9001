"""`python -m src.cli VERB`, for a checkout in which nothing is installed."""

from . import main

main()
