-- Tables of the board's index. `board/index.py` explains them; change VERSION there with this file.
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT, set_path TEXT, kind TEXT, seed INTEGER,
    step INTEGER, episodes INTEGER, right INTEGER, lucky INTEGER, asked INTEGER, reward REAL, unreadable INTEGER,
    searched INTEGER DEFAULT 0);
CREATE TABLE episodes(id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER, line INTEGER, start INTEGER, size INTEGER,
    set_path TEXT, step INTEGER, sample TEXT, task TEXT, level TEXT, lang TEXT, needs INTEGER, asks INTEGER,
    right INTEGER, lucky INTEGER, told INTEGER, turns INTEGER, reward REAL, variance REAL, score REAL);
CREATE INDEX by_file ON episodes(file, line);
CREATE INDEX by_sample ON episodes(sample, set_path);
CREATE INDEX by_set ON episodes(set_path, sample, needs, asks, right, turns);
CREATE INDEX by_facts ON episodes(reward, right, lucky, asks, needs, task, level, lang, step, variance);
CREATE TABLE judged(step INTEGER, line INTEGER, sample TEXT, seed INTEGER, variance REAL, overall REAL,
    PRIMARY KEY(step, line, sample, seed)) WITHOUT ROWID;
CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='trigram');
CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'row');
CREATE TABLE pools(path TEXT PRIMARY KEY, stamp TEXT) WITHOUT ROWID;
CREATE TABLE samples(id TEXT, path TEXT, start INTEGER, size INTEGER);
CREATE INDEX by_id ON samples(id);
CREATE INDEX by_pool ON samples(path);
