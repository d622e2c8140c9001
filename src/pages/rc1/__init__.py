"""The RC1 report: what a run came to, for people who were not there. `RC1.json` holds it, `RC1.html` shows it."""
