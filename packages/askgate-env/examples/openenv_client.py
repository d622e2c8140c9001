"""Plays 20 samples on an OpenEnv server (`uvicorn askgate_env.adapters.openenv_server:app`) with a model of any server.

python openenv_client.py http://127.0.0.1:8000 http://127.0.0.1:8001/v1 MODEL
"""

import sys

from openai import OpenAI
from openenv.core import GenericEnvClient

policy = OpenAI(base_url=sys.argv[2], api_key="none")
with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    for index in range(20):
        result = env.reset(index=index)
        messages = [{"role": "system", "content": result.observation["system"]}]
        while not result.done:
            messages.append({"role": "user", "content": result.observation["text"]})
            said = policy.chat.completions.create(model=sys.argv[3], messages=messages).choices[0].message.content
            messages.append({"role": "assistant", "content": said})
            result = env.step({"text": said})
        print(index, result.reward)
