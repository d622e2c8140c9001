"""Evaluates a model on 20 samples with Inspect: `python inspect_eval.py openai-api/local/MODEL`, LOCAL_BASE_URL set."""

import sys

from inspect_ai import eval

from askgate_env.adapters.inspect_task import askgate

[log] = eval(askgate(), model=sys.argv[1], limit=20)
for sample in log.samples or []:
    print(sample.id, sample.scores["rule_reward"].value)
