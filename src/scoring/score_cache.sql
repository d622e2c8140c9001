-- Tables of the score cache (`store.py`).
CREATE TABLE IF NOT EXISTS replies (
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
CREATE INDEX IF NOT EXISTS replies_by_key ON replies (key);
CREATE INDEX IF NOT EXISTS replies_owed ON replies (owner) WHERE ledgered = 0;
-- Batches at a provider whose replies may not have arrived (`batch_client.py`).
CREATE TABLE IF NOT EXISTS batches (
  name TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  server TEXT NOT NULL,
  at REAL NOT NULL,
  file TEXT NOT NULL DEFAULT '',
  batch TEXT NOT NULL DEFAULT '',
  created REAL NOT NULL DEFAULT 0,
  seen_open REAL NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS batch_votes (
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  ask TEXT NOT NULL,
  request TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (name, key)
);
CREATE INDEX IF NOT EXISTS batch_votes_waiting ON batch_votes (key) WHERE done = 0
