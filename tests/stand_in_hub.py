"""A hub of our own, on this machine, for the real client: HF_ENDPOINT=http://127.0.0.1:PORT.

    with stand_in_hub({"org/name": folder}) as hub: ...     hub.address, hub.asked

A model whose name ends in one of `FAULTS` fails in that way: `org/name.cut`. Of a name that ends in
`.api.FAULT` the list of files fails already, of the others only weights do.
"""

import contextlib
import hashlib
import http.server
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

COMMIT = "0123456789" * 4
KNOWN = (COMMIT, "main")
SMALL = 2**14  # bytes; larger files are kept by sha256, as git-lfs does
TOKEN = "hf_right"
_FILE = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_API = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+)/(?P<what>[a-z-]+)/?(?P<revision>[^/?]*)")
# What is answered in place of the file: status, code and message of the hub, other headers.
STATUS: dict[str, tuple[int, dict[str, str]]] = {
    "401": (401, {"X-Error-Message": "Invalid credentials in Authorization header"}),
    "403": (403, {"X-Error-Message": "this token may not read it"}),
    "404": (404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}),
    "gone": (404, {"X-Error-Message": "Not Found"}),
    "429": (429, {"X-Error-Message": "we have to rate limit you"}),
    "500": (500, {"X-Error-Message": "Internal Error - we're working hard"}),
    "gated": (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "ask for access"}),
}
FAULTS = (*STATUS, "cut", "short", "wrong", "slow")


class Hub(http.server.ThreadingHTTPServer):
    """The server: `models` are folders by name, each at the one commit COMMIT, which is `main`."""

    daemon_threads = True

    def __init__(self, models: Mapping[str, Path]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.models, self.asked = models, list[str]()
        self.address = f"http://127.0.0.1:{self.server_port}"


class Answer(http.server.BaseHTTPRequestHandler):
    """One request."""

    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        asked = _API.match(self.path) or _FILE.match(self.path)
        name = asked["name"] if asked else ""
        folder = self.server.models.get(name)
        fault = name.rpartition(".")[2]
        if asked is None or folder is None:
            return self.fail("404")
        if asked.re is _API:
            return self.fail(fault) if ".api." in name else self.describe(asked, folder, fault)
        if asked["revision"] not in KNOWN or not (folder / asked["file"]).is_file():
            code = "Entry" if asked["revision"] in KNOWN else "Revision"
            return self.send(404, {"X-Error-Code": f"{code}NotFound", "X-Repo-Commit": COMMIT})
        granted = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if fault == "gated" and not granted:
            return self.fail("gated")
        weights = asked["file"].endswith((".safetensors", ".bin"))
        if weights and fault in STATUS and fault != "gated":
            return self.fail(fault)
        return self.give(folder / asked["file"], fault if weights else "")

    def describe(self, asked: re.Match[str], folder: Path, fault: str) -> None:
        """What the hub says of a commit: everything at once, or the tree of its files."""
        if asked["what"] == "auth-check":
            granted = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            return self.send(200) if granted else self.fail("gated")
        if asked["revision"] not in KNOWN:
            return self.send(404, {"X-Error-Code": "RevisionNotFound"})
        files = [(path.name, path.stat().st_size, digests(path)) for path in folder.iterdir()]
        document: Any = [
            {"type": "file", "path": name, "size": size, "oid": of["git"]}
            | ({"lfs": {"oid": of["sha256"], "size": size, "pointerSize": 1}} if of["lfs"] else {})
            for name, size, of in files
        ]
        if asked["what"] == "revision":
            siblings = [{"rfilename": name, "size": size} for name, size, _ in files]
            gated = "manual" if fault == "gated" else False
            document = {"id": asked["name"], "sha": COMMIT, "siblings": siblings, "gated": gated}
        return self.send(200, {"Content-Type": "application/json"}, json.dumps(document).encode())

    def give(self, path: Path, fault: str) -> None:
        """A file, whole or spoiled; a transfer that broke off may go on where it was."""
        of, content = digests(path), path.read_bytes()
        etag = of["sha256"] if of["lfs"] else of["git"]
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{etag}"', "X-Linked-Size": str(len(content))}
        if fault == "wrong":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if fault == "short":
            content = content[:-8]
        self.send(200, headers, content, cut=fault == "cut", slow=fault == "slow")

    def fail(self, fault: str) -> None:
        self.send(*STATUS[fault])

    def send(
        self,
        status: int,
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        *,
        cut: bool = False,
        slow: bool = False,
    ) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if cut:
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        for start in range(0, len(body), max(len(body) // 10, 1)) if slow else ():
            self.wfile.write(body[start : start + max(len(body) // 10, 1)])
            time.sleep(0.2)
        if not slow:
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


def digests(path: Path) -> dict[str, Any]:
    """What the hub calls a file: by git, or by sha256 where it is large."""
    content = path.read_bytes()
    return {
        "git": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(),
        "sha256": hashlib.sha256(content).hexdigest(),
        "lfs": len(content) > SMALL,
    }


@contextlib.contextmanager
def stand_in_hub(models: Mapping[str, Path]) -> Iterator[Hub]:
    """Serve `models` inside the block."""
    with Hub(models) as hub:
        thread = threading.Thread(target=hub.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield hub
        hub.shutdown()
        thread.join(5)
