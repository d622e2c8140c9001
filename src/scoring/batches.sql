-- Batches at a provider whose replies may not have arrived (`batch_client.py`), in the file of the cache.
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
