"""The gates of a round, each measured on files: data, reward, penalty, training config, live scoring."""
