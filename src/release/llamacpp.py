"""A GGUF file in llama.cpp, spoken to in tokens: text that is tokenized twice may come out otherwise."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..core.errors import BadInput
from ..scoring.local_judge import MAGIC, ServerUse, serving

LOG = Path("logs/llamacpp_server.log")
ANSWER_S = 600.0


class LlamaCpp:
    """One dialogue at a time: what it has read is kept, so a prompt that extends the last one is read from there on."""

    def __init__(self, address: str, path: Path) -> None:
        self.path, self._host = path, urlsplit(address).netloc

    def go_on(self, tokens: Sequence[int], most: int, temperature: float | None, seed: int = 0) -> list[int]:
        """What the model says after the tokens, with the token that ended it if one did. No temperature: the likeliest.

        It ends after `most` tokens, or at a token that the file or llama.cpp itself takes for an end.
        """
        chance = {"temperature": 0.0} if temperature is None else {"temperature": temperature, "seed": seed}
        wanted = {
            "prompt": list(tokens),
            "n_predict": most,
            "samplers": ["temperature"],
            "return_tokens": True,
            "cache_prompt": True,
            **chance,
        }
        said: list[int] = self._ask("/completion", wanted)["tokens"]
        if not said:
            raise BadInput("llama.cpp said nothing at all", where=str(self.path), remedy="export the model again")
        return said

    def tokenize(self, text: str) -> list[int]:
        """As llama.cpp reads text, marks included: for comparison alone."""
        wanted = {"content": text, "add_special": False, "parse_special": True}
        found: list[int] = self._ask("/tokenize", wanted)["tokens"]
        return found

    def _ask(self, path: str, body: dict[str, Any]) -> Any:
        # A connection for each question: the server closes one that was idle while PyTorch was computing.
        connection = http.client.HTTPConnection(self._host, timeout=ANSWER_S)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise BadInput(
                f"llama.cpp ended or does not answer ({error or type(error).__name__})",
                where=str(self.path),
                remedy=f"see {LOG}; check the free memory",
            ) from error
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise BadInput(
                f"llama.cpp refused: {content.decode(errors='replace')[:300]}",
                where=str(self.path),
                remedy=f"see {LOG}",
            )
        return json.loads(content)


@contextmanager
def opened(path: Path, context: int, log: Path = LOG) -> Iterator[LlamaCpp]:
    """The file in a server of its own, with room for so many tokens, computing as exactly as it can."""
    require_gguf(path)
    use = ServerUse("llama.cpp", "evaluate with PyTorch", f"check {path} and the free memory", exact=context)
    with serving(path, log, use) as address:
        yield LlamaCpp(address, path)


def require_gguf(path: Path) -> None:
    try:
        with open(path, "rb") as handle:
            start = handle.read(len(MAGIC))
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy="check the path") from None
    if start != MAGIC:
        raise BadInput("is not a GGUF file", where=str(path), remedy="make one: askgate export_gguf")
