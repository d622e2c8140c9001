-- Tables of the score cache (`store.py`).
CREATE TABLE replies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_version TEXT NOT NULL,
  ask TEXT NOT NULL,
  reply TEXT NOT NULL,
  scoring TEXT NOT NULL,
  at REAL NOT NULL,
  owner TEXT NOT NULL,
  ledgered INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX replies_by_key ON replies (key);
CREATE INDEX replies_owed ON replies (owner) WHERE ledgered = 0;
