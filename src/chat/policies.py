"""Policies to talk with: a model folder, LoRA adapters, a GGUF file, or a server that speaks the OpenAI chat protocol.

    with open_policy("models/tiny") as policy:
        [episode] = policy.rollout([Job(sample)], max_turns=6)
        policy.complete([[{"role": "user", "content": "How many legs has a spider?"}]], print)

`rollout` talks in the environment of training: same actions, tools and user. `complete` is plain chat.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from askgate_env.actions import THINK, THOUGHT
from askgate_env.env import Env, Watch, unwatched
from askgate_env.types import Episode
from askgate_env.users import User, rules

from ..agents.native import action_format, make_renderer, saved_functions
from ..agents.render import Renderer, generation_stop_ids, renderer_for
from ..agents.trajectory import Job
from ..config.train_config import RolloutLimits
from ..core.errors import BadInput
from ..core.files import sha256_file, sha256_folder, shipped
from ..core.model_files import find_policy, may_be_on_hub, model_sha256, name_model
from ..scoring.chat_server import ChatServer, Message, Reply
from ..scoring.providers import address

MAX_CONTEXT = 8192  # tokens of a dialogue, for models that would take more
SERVER_TURN_TOKENS = 2048  # tokens of one turn of a model behind a server, its thought included
SERVER_TIMEOUT_S = 300.0
SERVER_CALLS = 8  # concurrent completions of a model behind a server
KINDS = "a model folder, a .gguf file, a hub model, or the URL of a server such as http://127.0.0.1:8000/v1"

Progress = Callable[[int], None]
Finished = Callable[[int, Reply], None]  # gets the index of a prompt and the reply to it


class Policy(ABC):
    """A model that can be talked with."""

    reply_tokens: int  # most tokens of a reply by `complete`, without its thought

    @abstractmethod
    def fingerprint(self) -> str:
        """SHA-256 of its files; for a model behind a server, its name and address."""

    def rollout(
        self,
        jobs: Sequence[Job],
        max_turns: int,
        user: User = rules,
        watch: Watch = unwatched,
        progress: Progress = lambda done: None,
    ) -> list[Episode]:
        """One episode per job. `watch` gets every turn as it is made, `progress` 1 for each finished episode."""
        return self._rollout(jobs, max_turns, user, watch, progress)

    @abstractmethod
    def _rollout(
        self, jobs: Sequence[Job], max_turns: int, user: User, watch: Watch, progress: Progress
    ) -> list[Episode]: ...

    @abstractmethod
    def complete(self, prompts: Sequence[Sequence[Message]], finished: Finished) -> None:
        """One reply to each list of messages, without environment, in any order. `finished` gets each as it ends.

        Messages: a system prompt if wanted, then user and assistant (or tool and assistant) by turns.
        """


@contextmanager
def open_policy(
    model: str,
    temperature: float = 0.0,
    seed: int = 0,
    environment: Mapping[str, str] = os.environ,
    adapter: Path | None = None,
) -> Iterator[Policy]:
    """The policy that `model` names, with the adapters in `adapter` if given. At temperature 0 it always says the
    likeliest token."""
    is_server = model.startswith(("http://", "https://"))
    is_gguf = not is_server and (model.endswith(".gguf") or Path(model).is_file())
    if adapter is not None and (is_server or is_gguf):
        raise BadInput(f"{model} takes no adapters", where="--adapter", remedy="name the folder of their base instead")
    if is_server:
        with closing(_open_server(model, environment)) as server:
            yield ServerPolicy(server, temperature)
    elif is_gguf:
        with open_gguf_policy(Path(model), temperature) as policy:
            yield policy
    else:
        folder = shipped(Path(model))
        if not folder.is_dir() and not may_be_on_hub(folder):
            raise BadInput("no such model", where=model, remedy=name_model(model, f"name {KINDS}"))
        yield TorchPolicy(*find_policy(model, adapter), temperature, seed)


class Renderers:
    """The renderers of a policy: one with its actions (tags or tool calls), one for plain chat."""

    def __init__(self, tokenizer: Any, stop_ids: frozenset[int], limits: RolloutLimits) -> None:
        self.actions = make_renderer(tokenizer, stop_ids, limits.actions, limits.tools)
        self.plain = renderer_for(tokenizer, stop_ids) if limits.actions == "native" else self.actions

    def of(self, prompts: Sequence[Sequence[Message]]) -> Renderer:
        """The renderer of prompts that all have a system prompt, which is that of the actions, or all have none."""
        return self.actions if prompts[0][0]["role"] == "system" else self.plain


class TorchPolicy(Policy):
    """A model that `transformers` reads, with adapters merged. It runs many dialogues at a time.

    Without `limits`, they depend on the number of positions of the model.
    """

    def __init__(
        self, folder: Path, adapter: Path | None, temperature: float, seed: int, limits: RolloutLimits | None = None
    ) -> None:
        import torch

        from ..release.gguf_export import load_merged, load_tokenizer
        from ..runtime.device import get_device, get_dtype, prepare_device

        self._folder, self._adapter = folder, adapter
        self._device = get_device()
        prepare_device(self._device)
        self._model: Any = load_merged(folder, adapter).to(self._device, get_dtype(self._device))
        self._limits = limits or _limits(
            self._model.config.max_position_embeddings, temperature, saved_functions(adapter or folder)
        )
        self._renderers = Renderers(load_tokenizer(folder, adapter), generation_stop_ids(str(folder)), self._limits)
        self._reply_limits = _reply_limits(self._limits)
        self.reply_tokens = self._reply_limits.max_new_tokens
        self._greedy = temperature == 0
        self._generator = torch.Generator(self._device).manual_seed(seed)

    def fingerprint(self) -> str:
        adapters = f"+{sha256_folder(self._adapter)}" if self._adapter is not None else ""
        return model_sha256(self._folder) + adapters

    def _rollout(
        self, jobs: Sequence[Job], max_turns: int, user: User, watch: Watch, progress: Progress
    ) -> list[Episode]:
        from ..rollout.scheduler import generate

        made = generate(
            self._model,
            self._renderers.actions,
            jobs,
            self._limits.model_copy(update={"max_turns": max_turns}),
            device=self._device,
            generator=self._generator,
            greedy=self._greedy,
            progress=progress,
            user=user,
            watch=watch,
        )
        return [one.episode for one in made]

    def complete(self, prompts: Sequence[Sequence[Message]], finished: Finished) -> None:
        from ..rollout.scheduler import complete

        renderer = self._renderers.of(prompts)
        complete(
            self._model,
            renderer,
            [_tokens(renderer, messages) for messages in prompts],
            self._reply_limits,
            device=self._device,
            generator=self._generator,
            greedy=self._greedy,
            finished=lambda index, text: finished(index, _split_thought(text)),
        )


class GgufPolicy(Policy):
    """A GGUF file in llama.cpp, one dialogue at a time."""

    def __init__(self, llama: Any, renderers: Renderers, limits: RolloutLimits, greedy: bool) -> None:
        self._llama, self._renderers, self._limits, self._greedy = llama, renderers, limits, greedy
        self._reply_limits = _reply_limits(limits)
        self.reply_tokens = self._reply_limits.max_new_tokens

    def fingerprint(self) -> str:
        return sha256_file(self._llama.path)

    def _rollout(
        self, jobs: Sequence[Job], max_turns: int, user: User, watch: Watch, progress: Progress
    ) -> list[Episode]:
        from ..release.llamacpp import rollout_llamacpp

        limits = self._limits.model_copy(update={"max_turns": max_turns})
        more: Any = {"greedy": self._greedy, "progress": progress, "user": user, "watch": watch}
        return rollout_llamacpp(self._llama, self._renderers.actions, jobs, limits, **more)

    def complete(self, prompts: Sequence[Sequence[Message]], finished: Finished) -> None:
        from ..release.llamacpp import complete_llamacpp

        renderer = self._renderers.of(prompts)
        for index, messages in enumerate(prompts):
            tokens = _tokens(renderer, messages)
            text = complete_llamacpp(self._llama, renderer, tokens, self._reply_limits, self._greedy)
            finished(index, _split_thought(text))


class ServerPolicy(Policy):
    """A model behind a server, which applies its own chat template. The server decides which tokens stop a turn."""

    reply_tokens = SERVER_TURN_TOKENS

    def __init__(self, server: ChatServer, temperature: float) -> None:
        self._server, self._temperature = server, temperature

    def fingerprint(self) -> str:
        return f"{self._server.model} at {address(self._server.url)}"

    def _rollout(
        self, jobs: Sequence[Job], max_turns: int, user: User, watch: Watch, progress: Progress
    ) -> list[Episode]:
        made = []
        for job in jobs:
            env = Env(job.sample, max_turns, user=user, watch=watch)
            messages = [{"role": "system", "content": env.system()}, {"role": "user", "content": env.opening()}]
            while env.end is None:
                said = self._server.complete(messages, self._temperature, SERVER_TURN_TOKENS)
                reply = env.step(f"<think>{said.thought}</think>{said.text}" if said.thought else said.text)
                if reply is not None:
                    # The role `tool` is for calls in the protocol's own format, which these actions are not.
                    messages += [{"role": "assistant", "content": said.text}, {"role": "user", "content": reply.text}]
            made.append(env.episode(job.seed, job.level))
            progress(1)
        return made

    def complete(self, prompts: Sequence[Sequence[Message]], finished: Finished) -> None:
        stopped = Event()
        failures: list[BaseException] = []
        with ThreadPoolExecutor(SERVER_CALLS) as pool:
            calls = {pool.submit(self._reply, messages, stopped): index for index, messages in enumerate(prompts)}
            try:
                for call in as_completed(calls):
                    if error := call.exception():
                        # Calls that have started still end; no further call starts.
                        failures.append(error)
                        stopped.set()
                    elif reply := call.result():
                        finished(calls[call], reply)
            finally:
                stopped.set()
        if failures:
            raise failures[0]

    def _reply(self, messages: Sequence[Message], stopped: Event) -> Reply | None:
        if stopped.is_set():
            return None
        plain = [{**one, "role": "user" if one["role"] == "tool" else one["role"]} for one in messages]
        return self._server.complete(plain, self._temperature, SERVER_TURN_TOKENS)


def _open_server(url: str, environment: Mapping[str, str]) -> ChatServer:
    """The server, and its model: $POLICY_MODEL, or the only one that it offers."""
    name, key = (environment.get(variable, "").strip() for variable in ("POLICY_MODEL", "POLICY_API_KEY"))
    server = ChatServer(url, name, key, environment, who="the policy's server", where=url, timeout_s=SERVER_TIMEOUT_S)
    if not name:
        offered = server.models()
        if len(offered) != 1:
            raise BadInput(
                f"the server offers {len(offered)} models ({', '.join(offered[:5])})",
                where=url,
                remedy="set POLICY_MODEL to the name of one",
            )
        server.model = offered[0]
    return server


@contextmanager
def open_gguf_policy(path: Path, temperature: float, limits: RolloutLimits | None = None) -> Iterator[GgufPolicy]:
    """The policy in a GGUF file. Without `limits`, they depend on the length of its context."""
    from ..release.gguf_export import FUNCTIONS
    from ..release.gguf_tokenizer import open_reader, read_tokenizer
    from ..release.llamacpp import open_gguf, require_gguf

    require_gguf(path)
    reader = open_reader(path)
    if limits is None:
        architecture = str(reader.fields["general.architecture"].contents())
        functions = reader.fields[FUNCTIONS].contents() if FUNCTIONS in reader.fields else []
        limits = _limits(int(reader.fields[f"{architecture}.context_length"].contents()), temperature, functions)
    renderers = Renderers(read_tokenizer(reader), frozenset(), limits)
    with open_gguf(path, limits.max_tokens) as llama:
        yield GgufPolicy(llama, renderers, limits, greedy=temperature == 0)


def _limits(positions: int, temperature: float, functions: Sequence[str]) -> RolloutLimits:
    """Limits for a model with so many positions: a sixteenth of them for an action, an eighth for a thought."""
    context = min(positions, MAX_CONTEXT)
    actions, tools = action_format(functions)
    return RolloutLimits(
        actions=actions,
        tools=tools,
        max_tokens=context,
        max_new_tokens=max(context // 16, 32),
        think_tokens=context // 8,
        temperature=temperature or 1.0,
    )


def _reply_limits(limits: RolloutLimits) -> RolloutLimits:
    """Limits of a reply in plain chat, which has no actions: a quarter of the context each for thought and reply."""
    quarter = limits.max_tokens // 4
    return limits.model_copy(update={"max_new_tokens": quarter, "think_tokens": quarter})


def _tokens(renderer: Renderer, messages: Sequence[Message]) -> list[int]:
    """The messages as the model reads them, up to the cue to speak."""
    system = messages[0]["content"] if messages[0]["role"] == "system" else None
    first, *rest = messages[system is not None :]
    tokens = renderer.opening(first["content"], system)
    for one in rest:
        text = one["content"]
        tokens += renderer.policy(text) if one["role"] == "assistant" else renderer.reply(one["role"], text)
    return tokens


def _split_thought(text: str) -> Reply:
    """The reply in a text, without the thought before it.

    >>> _split_thought("<think>2 + 2</think>4"), _split_thought("4"), _split_thought("<think>2 +")
    (Reply(text='4', thought='2 + 2'), Reply(text='4', thought=''), Reply(text='', thought='2 +'))
    """
    thought, closed, said = text.rpartition(THOUGHT)
    if not closed and text.lstrip().startswith(THINK):
        thought, said = text, ""
    return Reply(said.strip(), thought.replace(THINK, "").strip())
