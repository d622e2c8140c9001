"""llama.cpp's server in a process of its own, so that a crash in it cannot end AskGate.

    python -P llama_server.py MODEL.gguf [TOKENS]

It prints its address once it answers, and ends when its standard input is closed.

With TOKENS it computes at full precision, with a context of that size: for the comparison of a GGUF file with the model
that it was made from. It imports nothing else of the package, so it runs under any package name.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import urllib.request

CONTEXT = 8192
"""Tokens for rubric, dialogue and reply. The longest dialogues have 1,500 words; Chinese may take three times as many
tokens."""
KEPT_PROMPTS_MIB = 128


def main() -> None:
    # The system closes our standard input when the parent ends, also if it is killed.
    watcher = threading.Thread(target=_end_with_parent, daemon=True)
    watcher.start()
    server = _server(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
    while not _answers(server.listening_address):
        time.sleep(0.05)
    print(server.listening_address, flush=True)
    watcher.join()


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _answers(address: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{address}/health", timeout=5):
            return True
    except OSError:
        return False


def _server(model: str, exact: int | None):  # type: ignore[no-untyped-def]
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    # Replies name the model, and must not show its path on this machine.
    wanted.model_alias = {os.path.basename(model)}
    wanted.n_ctx = exact or CONTEXT
    # One slot: the votes on a dialogue come one after the other, and the first leaves its prefix there. Four slots were
    # measured at half the speed, because each of them read the dialogue again.
    wanted.n_parallel = 1
    wanted.cache_prompt = True
    # For dialogues that need further votes later because their votes disagree.
    wanted.cache_ram_mib = 0 if exact else KEPT_PROMPTS_MIB
    if exact:
        wanted.cache_type_k = wanted.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        wanted.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads()
    wanted.ui = wanted.endpoint_slots = False
    wanted.verbosity = 1
    return xllamacpp.Server(wanted)


def threads() -> int:
    """OMP_NUM_THREADS, which the loop sets when another stage runs at the same time, or else the number of cores.

    Threads wait for each other after every layer, so one that shares its core slows down all of them.
    """
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


if __name__ == "__main__":
    main()
