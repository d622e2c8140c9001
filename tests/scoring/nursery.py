"""Fresh processes, quickly: one process that has imported everything and forks a child for each run.

`python -m tests.scoring.nursery` reads orders as JSON lines and answers each with one line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from . import work

_REPOSITORY = Path(__file__).resolve().parents[2]


class Nursery:
    """`start` gives the process number of a child that runs a function of `work`; `wait` its exit code, or minus the
    signal that ended it."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.scoring.nursery"],
            cwd=_REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def start(self, job: str, **arguments: Any) -> int:
        return self._order([job, arguments])

    def wait(self, child: int) -> int:
        return self._order([child])

    def run(self, job: str, **arguments: Any) -> int:
        return self.wait(self.start(job, **arguments))

    def close(self) -> None:
        self._server.communicate()

    def _order(self, order: list[Any]) -> int:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


def _serve() -> None:
    for line in iter(sys.stdin.readline, ""):
        match json.loads(line):
            case [int(child)]:
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            case [str(job), dict(arguments)]:
                if (child := os.fork()) == 0:
                    _child(job, arguments)
                print(child, flush=True)


def _child(job: str, arguments: dict[str, Any]) -> None:
    os.dup2(2, 1)  # the server's answers are none of the child's business
    code = 70
    try:
        code = {"run": work.run, "run_with_little_room": work.run_with_little_room}[job](**arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve()
