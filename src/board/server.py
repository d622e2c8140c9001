"""The board's server: for this machine only. It changes no file; POST is for the chat page alone.

A POST must come from the board's own page: its `Origin` must be this server, and it must have the token that only that
page has. Every response forbids scripts other than the board's own, so that a script in a dialogue is shown and not
run. A request to another host name than this machine's is refused: that is how a page elsewhere would read here (DNS
rebinding).
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from hmac import compare_digest
from itertools import islice
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qsl, quote

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgate_env.types import LANGS, Lang

from ..pages.render import one_language, opened_in, stylesheet
from ..runtime.secrets import masker
from .chat import Chat, chat_page, chat_part
from .compare import Query, changes_part, compare_page, pair_page
from .episode import episode_page
from .episodes import episodes_page, list_part, parse_filter, whole_number
from .index import reading
from .overview import PARTS, light_page, overview, runs_page, stage_page
from .render import address, render
from .run_files import OutsideRunFolder, open_inside, read_inside
from .runs import Board, Run

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
PIECE = 256 * 1024  # bytes of a file that are shown at a time, up to the end of a line
LONGEST_LINE = 4 * 2**20
TEXT = (".json", ".jsonl", ".yaml", ".yml", ".log", ".txt", ".md", ".sha256", ".csv")
"""Endings of files that are shown, which are text files only."""
REPORTS = "reports/"
MAX_FORM_BYTES = 64 * 1024
LANGUAGE = "askgate_lang"  # name of the cookie, and of the parameter in an address, with the language of the pages
YEAR_SECONDS = 365 * 24 * 3600
View = Callable[[Board, Request], Response]
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a form would send no origin
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
}


class Guard:
    """Refuses requests to other host names, and adds the security headers to every response."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            await PlainTextResponse("this board only answers requests to 127.0.0.1\n", 421)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)


def make_app(board: Board, port: int) -> ASGIApp:
    """The application. Views run in threads: SQLite and files block, and a slow page must not hold up another."""

    def route(path: str, view: View) -> Route:
        def answer_in_language(request: Request) -> Response:
            with one_language(_language(request)):
                return view(board, request)

        async def answer(request: Request) -> Response:
            made = await run_in_threadpool(answer_in_language, request)
            if (chosen := request.query_params.get(LANGUAGE)) in LANGS:
                made.set_cookie(LANGUAGE, chosen, max_age=YEAR_SECONDS, httponly=True, samesite="strict")
            return made

        return Route(path, answer, methods=["GET"])

    chat, token = Chat(board), secrets.token_urlsafe()
    origins = {f"http://{name}:{port}" for name in NAMES}

    def post(path: str, act: Callable[[Mapping[str, str]], str]) -> Route:
        async def answer(request: Request) -> Response:
            form = await _form(request)
            same = compare_digest(form.get("token", "").encode(), token.encode())
            if request.headers.get("origin") not in origins or not same:
                return PlainTextResponse("this is not the board's own page; open /chat\n", 403)
            wrong = await run_in_threadpool(act, form)
            return RedirectResponse(address("/chat", wrong=wrong), 303)

        return Route(path, answer, methods=["POST"])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        board.start()
        yield
        board.close()

    def show_chat(board: Board, request: Request) -> Response:
        return _page(board, request, chat_page(chat, request.query_params, token), "chat")

    def start_chat(form: Mapping[str, str]) -> str:
        policy, task, text, user = (form.get(name, "") for name in ("policy", "task", "text", "user"))
        return chat.start(policy, task, text, user != "simulator")

    routes = [
        *(route(path, view) for path, view in VIEWS.items()),
        route("/chat", show_chat),
        route("/part/chat", lambda board, request: _part(request, chat_part(chat))),
        post("/chat/start", start_chat),
        post("/chat/say", lambda form: chat.say(form.get("text", ""))),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), port)


async def _form(request: Request) -> dict[str, str]:
    """Fields of a form that was sent; empty if it is too long."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            return {}
    return dict(parse_qsl(body.decode(errors="replace")))


def _language(request: Request) -> Lang:
    """Language of the pages: from the address, else the cookie, else $ASKGATE_LANG, else the browser."""
    wanted = request.query_params.get(LANGUAGE), request.cookies.get(LANGUAGE), os.environ.get("ASKGATE_LANG")
    browsers: Lang = "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"
    return next((lang for name in wanted for lang in LANGS if lang == name), browsers)


def _run(board: Board, request: Request) -> Run:
    """The run that the address names, else the first, with its index being updated."""
    run = board.run(request.query_params.get("run", ""))
    run.index.get()
    return run


def _page(
    board: Board, request: Request, body: Markup | None, here: str, run: Run | None = None, title: str = "AskGate"
) -> Response:
    """A whole page; 404 without a body. `here`: the current entry of the navigation."""
    query = dict(request.query_params)
    page = render(
        "frame.html",
        title=title,
        body=render("nothing.html") if body is None else body,
        here=here,
        runs=board.names,
        run=run.name if run else board.names[0],
        languages={lang: address(request.url.path, **{**query, LANGUAGE: lang}) for lang in LANGS},
    )
    html = masker(os.environ)(page)
    return Response(html, 404 if body is None else 200, media_type="text/html")


def _part(request: Request, part: Markup) -> Response:
    """A part of a page; 304 where the browser has it already."""
    html = masker(os.environ)(part)
    version = f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == version:
        return Response(status_code=304, headers={"ETag": version})
    return Response(html, media_type="text/html", headers={"ETag": version})


def _episodes(board: Board, request: Request) -> Response:
    run = _run(board, request)
    run.index.get(wait=0.3)  # enough to index a small run
    return _page(board, request, episodes_page(board, run, parse_filter(request.query_params)), "episodes", run)


def _episode_list(board: Board, request: Request) -> Response:
    run = _run(board, request)
    with reading(run.indexer.path) as store:
        return _part(request, list_part(run, parse_filter(request.query_params), store))


def _episode(board: Board, request: Request) -> Response:
    run = _run(board, request)
    return _page(board, request, episode_page(run, request.query_params), "episodes", run)


def _file(board: Board, request: Request) -> Response:
    run, query = _run(board, request), request.query_params
    return _page(board, request, file_page(run, query.get("path", ""), query.get("start", "")), "", run)


def file_page(run: Run, path: str, start: str) -> Markup | None:
    """A text file of the project folder, one piece at a time; None where there is no such file."""
    try:
        handle = open_inside(run.root, path if path.endswith(TEXT) else "")
    except OutsideRunFolder:
        return None
    with handle:
        size = os.fstat(handle.fileno()).st_size
        begin = min(whole_number(start, default=0), size)
        if begin:  # pieces are whole lines, so that no secret is cut in two and shown
            handle.seek(begin - 1)
            begin += len(handle.readline(LONGEST_LINE)) - 1
        handle.seek(begin)
        raw = handle.read(PIECE)
        raw += b"" if raw.endswith(b"\n") else handle.readline(LONGEST_LINE)
    text = masker(os.environ)(raw.decode("utf-8", errors="replace"))
    context = {"begin": begin, "end": begin + len(raw), "size": size, "piece": PIECE}
    return render("file.html", run=run.name, path=path, text=text, **context)


def _download(board: Board, request: Request) -> Response:
    """A text file of the project folder, or one line of it, to keep. Secrets are masked, as on the page."""
    path, line = request.query_params.get("path", ""), request.query_params.get("line", "")
    try:
        handle = open_inside(_run(board, request).root, path if path.endswith(TEXT) else "")
    except OutsideRunFolder:
        return _page(board, request, None, "")
    mask, name = masker(os.environ), PurePosixPath(path).name
    if line:
        stem, number = name.partition(".")[0], max(1, whole_number(line))
        with handle:
            wanted = next(islice(handle, number - 1, None), b"")
        return _attachment(mask(wanted.decode("utf-8", errors="replace")), f"{stem}_line_{number}.json")

    def lines() -> Iterator[bytes]:
        with handle:
            for raw in handle:
                yield mask(raw.decode("utf-8", errors="replace")).encode()

    return _attachment(lines(), name)


def _attachment(content: str | Iterator[bytes], name: str) -> Response:
    quoted = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    made = Response if isinstance(content, str) else StreamingResponse
    return made(content, media_type="application/octet-stream", headers=quoted)


def _report(board: Board, request: Request) -> Response:
    """A page that a stage wrote into `reports/`. It may have its own style and nothing else."""
    path = request.query_params.get("path", "")
    is_page = path.startswith(REPORTS) and path.endswith(".html")
    raw = read_inside(_run(board, request).root, path) if is_page else b""
    if not raw:
        return _page(board, request, None, "")
    html = masker(os.environ)(raw.decode("utf-8", errors="replace"))
    shown = opened_in(html.encode(), _language(request))
    return Response(shown, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _page_view(page: Callable[[Board, Query], Markup | None], here: str) -> View:
    return lambda board, request: _page(board, request, page(board, request.query_params), here)


def _part_view(part: Callable[[Board], Markup]) -> View:
    return lambda board, request: _part(request, part(board))


def _static(name: str, kind: str) -> View:
    return lambda board, request: Response((STATIC / name).read_bytes(), media_type=kind)


VIEWS: dict[str, View] = {
    "/": lambda board, request: _page(board, request, overview(board), "overview", title=f"{board.names[0]}: AskGate"),
    **{f"/part/{name}": _part_view(part) for name, part in PARTS.items()},
    "/part/changes": lambda board, request: _part(request, changes_part(board, request.query_params)),
    "/part/episodes": _episode_list,
    "/light": _page_view(light_page, "overview"),
    "/stage": _page_view(stage_page, "overview"),
    "/episodes": _episodes,
    "/episode": _episode,
    "/compare": _page_view(compare_page, "compare"),
    "/pair": _page_view(pair_page, "compare"),
    "/runs": _page_view(runs_page, "runs"),
    "/file": _file,
    "/download": _download,
    "/report": _report,
    "/style.css": lambda board, request: Response(stylesheet(), media_type="text/css"),
    "/board.js": _static("board.js", "text/javascript"),
    "/icon.svg": _static("icon.svg", "image/svg+xml"),
}
