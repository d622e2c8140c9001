"""A hub on loopback that speaks the HTTP protocol of huggingface_hub: repositories, LFS uploads, commits.

Like the real one it wants a token, validates the metadata of a card, takes large files through LFS with a checksum, and
changes nothing until the commit.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import yaml

TOKEN = "hf_loopbackTokenForTests0123456789"
LFS = (".safetensors", ".parquet")
LICENCES = {"apache-2.0", "mit", "cc-by-sa-3.0", "cc-by-sa-4.0", "other"}


@dataclass
class Repository:
    kind: str
    visibility: str
    files: dict[str, bytes] = field(default_factory=dict)
    commits: int = 0


class LoopbackHub:
    def __init__(self, refuse: str = "") -> None:
        self.repositories: dict[str, Repository] = {}
        self.requests: list[str] = []
        self.refuse = refuse
        """Part of the paths that are answered with 403."""
        self._objects: dict[str, bytes] = {}

    def __enter__(self) -> Self:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.split("?")[0]
                hub.requests.append(f"{self.command} {path}")
                # An upload has its own signed address, as with S3: the token is not sent there.
                signed = path.startswith("/upload/")
                if not signed and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    return self.send(401, {"error": "Invalid credentials in Authorization header"})
                if signed and "Authorization" in self.headers:
                    return self.send(400, {"error": "a signed address takes no token"})
                if hub.refuse and hub.refuse in path:
                    return self.send(403, {"error": "Forbidden: you need write access"})
                self.send(*hub.answer(path, body))

            do_POST = do_PUT = do_GET = answer

            def send(self, status: int, content: dict[str, Any]) -> None:
                data = json.dumps(content).encode()
                self.send_response(status)
                if content.get("error") == "Repository not found":
                    self.send_header("X-Error-Code", "RepoNotFound")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        if path == "/api/validate-yaml":
            return self._validate(json.loads(body)["content"])
        if path.startswith("/upload/"):
            oid = path.removeprefix("/upload/")
            if hashlib.sha256(body).hexdigest() != oid:
                return 400, {"error": "checksum"}
            self._objects[oid] = body
            return 200, {}
        if found := re.fullmatch(r"/(?:datasets/)?[^/]+/[^/]+\.git/info/lfs/objects/batch", path):
            objects = [
                {**one, "actions": {"upload": {"href": f"{self.url}/upload/{one['oid']}"}}}
                for one in json.loads(body)["objects"]
            ]
            return 200, {"transfer": "basic", "objects": objects}
        if found := re.fullmatch(r"/api/(model|dataset)s/([^/]+/[^/]+)(?:/(preupload|commit)/main)?", path):
            repository = self.repositories.get(found[2])
            if repository is None or repository.kind != found[1]:
                return 404, {"error": "Repository not found"}
            if not found[3]:
                return 200, {"id": found[2], "private": repository.visibility == "private", "siblings": []}
            return self._preupload(body) if found[3] == "preupload" else self._commit(repository, found[2], body)
        return 404, {"error": f"no such address: {path}"}

    def _create(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        name, kind = f"{asked['organization']}/{asked['name']}", asked.get("type", "model")
        address = f"{self.url}/{'datasets/' if kind == 'dataset' else ''}{name}"
        if name in self.repositories:
            return 409, {"error": "You already created this repo", "url": address}
        private = asked.get("private") or asked.get("visibility") == "private"
        self.repositories[name] = Repository(kind, "private" if private else "public")
        return 200, {"url": address, "name": name, "id": name}

    def _validate(self, content: str) -> tuple[int, dict[str, Any]]:
        """The front matter is YAML with licences that the hub knows."""
        front = re.match(r"---\n(.*?)---\n", content, re.DOTALL)
        facts = yaml.safe_load(front[1]) if front else {}
        licences = facts.get("license", [])
        unknown = {licences} - LICENCES if isinstance(licences, str) else {*licences} - LICENCES
        if unknown:
            return 400, {"errors": [{"message": f"license: {unknown}"}], "warnings": []}
        return 200, {"errors": [], "warnings": []}

    def _preupload(self, body: bytes) -> tuple[int, dict[str, Any]]:
        files = json.loads(body)["files"]
        modes = ("lfs" if one["path"].endswith(LFS) else "regular" for one in files)
        told = [
            {"path": one["path"], "uploadMode": mode, "shouldIgnore": False, "oid": None}
            for one, mode in zip(files, modes, strict=True)
        ]
        return 200, {"files": told}

    def _commit(self, repository: Repository, name: str, body: bytes) -> tuple[int, dict[str, Any]]:
        files = {}
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                if value["oid"] not in self._objects:
                    return 400, {"error": f"{value['path']} was not uploaded"}
                files[value["path"]] = self._objects[value["oid"]]
        repository.files |= files
        repository.commits += 1
        return 200, {"commitUrl": f"{self.url}/{name}/commit/{'0' * 40}", "commitOid": "0" * 40}
