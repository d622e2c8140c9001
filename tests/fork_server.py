"""A fork server: fresh processes without the import time.

One process has loaded what a module needs (`warm`) and forks a child for each job. `python -m tests.fork_server MODULE`
reads orders as JSON lines and answers each with one line. The parent does none of the work itself, so nothing is in
progress in it when it forks.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

_REPOSITORY = Path(__file__).resolve().parents[1]


class ForkServer:
    """`start` returns the process id of a child that does a job of the module's `JOBS`.

    `wait` returns its exit code, or minus the signal that ended it.
    """

    def __init__(self, module: str, **environment: str) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", module],
            cwd=_REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment},
        )  # fmt: skip

    def start(self, job: str, folder: Path, **arguments: Any) -> int:
        return self._order([job, {"folder": str(folder), **arguments}])

    def wait(self, child: int) -> int:
        return self._order([child])

    def run(self, job: str, folder: Path, **arguments: Any) -> int:
        return self.wait(self.start(job, folder, **arguments))

    def close(self) -> None:
        self._server.communicate()

    def _order(self, order: list[Any]) -> int:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


def _serve(module: str) -> None:
    work = importlib.import_module(module)
    work.warm()
    gc.collect()
    gc.freeze()  # a child's first collection would touch, and so copy, all of it
    for line in iter(sys.stdin.readline, ""):
        match json.loads(line):
            case [int(child)]:
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            case [str(job), dict(arguments)]:
                if (child := os.fork()) == 0:
                    _child(work.JOBS[job], arguments)
                print(child, flush=True)


def _child(job: Any, arguments: dict[str, Any]) -> None:
    code = 70
    try:
        os.dup2(2, 1)  # the child must not write among the server's answers
        code = job(**arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1])
