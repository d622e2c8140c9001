"""`python -m src.cli COMMAND`, for a checkout that is not installed."""

from . import main

main()
