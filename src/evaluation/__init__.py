"""Module names that the founding documents fix. The code is in `reward/`."""
