"""The board's server: on this machine only, for reading only.

Every answer forbids scripts that are not the board's own, so that a dialogue that holds one shows it and does not run
it. A request that was sent to another name than this machine's is refused: that is how a page elsewhere would read here
(DNS rebinding).
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .compare import compare_page, pair_page
from .episodes import episode_page, episodes_page, list_part
from .evidence import light_page, stage_page
from .files import file_page, report_page
from .frame import both, page
from .overview import curves_part, kpis_part, lights_part, overview
from .query import asked_for
from .run_folders import Board, Run
from .store import reading
from .style import STYLE

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses strangers and puts the rules on every answer, whatever made it."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                added = {**HEADERS, "Content-Security-Policy": POLICY}
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in added.items()
                      if name.lower().encode() not in there),
                ]  # fmt: skip
            await send(message)

        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            await PlainTextResponse("this board answers to 127.0.0.1 alone\n", 421)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)


def make_app(board: Board, port: int) -> ASGIApp:
    """Work is done in threads: SQLite and files wait, and a slow page holds up no other."""
    views: dict[str, Callable[[Board, Request], Response]] = {
        "/": _overview,
        "/part/lights": lambda board, request: _part(request, lights_part(board)),
        "/part/curves": lambda board, request: _part(request, curves_part(board)),
        "/part/kpis": lambda board, request: _part(request, kpis_part(board)),
        "/part/episodes": _list,
        "/light": lambda board, request: _page(
            board, light_page(board, *_asked(request, "round", "of")), "overview", board.run("")
        ),
        "/stage": lambda board, request: _page(
            board, stage_page(board, *_asked(request, "name")), "overview", board.run("")
        ),
        "/episodes": _episodes,
        "/episode": lambda board, request: _page(
            board, episode_page(_run(board, request), *_asked(request, "file", "line", "q")), "episodes",
            _run(board, request),
        ),
        "/compare": lambda board, request: _page(
            board, compare_page(board, request.query_params), "compare", board.run("")
        ),
        "/pair": lambda board, request: _page(board, pair_page(board, request.query_params), "compare", board.run("")),
        "/file": lambda board, request: _page(
            board, file_page(_run(board, request), *_asked(request, "path", "start")), "", _run(board, request)
        ),
        "/report": _report,
        "/board.css": lambda board, request: Response(STYLE, media_type="text/css"),
        "/board.js": lambda board, request: _static("board.js", "text/javascript"),
        "/icon.svg": lambda board, request: _static("icon.svg", "image/svg+xml"),
    }  # fmt: skip

    def route(path: str, view: Callable[[Board, Request], Response]) -> Route:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(view, board, request)

        return Route(path, answer, methods=["GET"])

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        board.start()
        yield
        board.close()

    return Guard(Starlette(routes=[route(path, view) for path, view in views.items()], lifespan=life), port)


def _asked(request: Request, *names: str) -> list[str]:
    return [request.query_params.get(name, "") for name in names]


def _run(board: Board, request: Request) -> Run:
    run = board.run(request.query_params.get("run", ""))
    run.index.get()
    return run


def _page(board: Board, body: str | None, here: str, run: Run, title: str = "AskGate") -> Response:
    if body is None:
        gone = f'<p class="soft">{both("There is nothing here in this run folder.", "该运行目录中没有此内容。")}</p>'
        return Response(page(title, gone, here, board.names, run.name), 404, media_type="text/html")
    return Response(page(title, body, here, board.names, run.name), media_type="text/html")


def _overview(board: Board, request: Request) -> Response:
    return _page(board, overview(board), "overview", board.run(""), f"{board.names[0]}: AskGate")


def _episodes(board: Board, request: Request) -> Response:
    run = _run(board, request)
    run.index.get(wait=0.3)  # a small run is indexed by then
    return _page(board, episodes_page(board, run, asked_for(request.query_params)), "episodes", run)


def _list(board: Board, request: Request) -> Response:
    run = _run(board, request)
    with reading(run.indexer.path) as store:
        return _part(request, list_part(run, asked_for(request.query_params), store))


def _part(request: Request, html: str) -> Response:
    """A part of a page; 304 where the asker has it already."""
    version = f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == version:
        return Response(status_code=304, headers={"ETag": version})
    return Response(html, media_type="text/html", headers={"ETag": version})


def _report(board: Board, request: Request) -> Response:
    found = report_page(_run(board, request), *_asked(request, "path"))
    if found is None:
        return _page(board, None, "", board.run(""))
    return Response(found, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _static(name: str, kind: str) -> Response:
    return Response((STATIC / name).read_bytes(), media_type=kind)
