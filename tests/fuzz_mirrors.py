"""Mirrors that answer anything, and addresses with passwords: the pinned bytes, or words alone."""

import hashlib
import http.server
import json
import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fuzz import Attempt, Kind

SECRET = "S3CRET"
FILES = {"dataset.json": b'{"category": {"pairs": []}}' * 50, "prompts.json": b'{"a": 1}' * 90}
WAYS = (
    "whole", "status", "cut", "longer", "other", "no length", "wrong length", "empty", "redirect",
    "gzip", "drips", "closes", "garbage", "endless", "stays open", "loop", "file address",
)  # fmt: skip


def prepare(folder: Path) -> Path:
    """The pins of two small files."""
    import layerwise.papers.fetching.upstream as module
    import layerwise.run.doctor.measuring  # noqa: F401

    folder.mkdir()
    module.DEADLINE = 4
    rows = [f"{name},{hashlib.sha256(of).hexdigest()},{len(of)}" for name, of in FILES.items()]
    (folder / "registry.csv").write_text("\n".join(["path,sha256,bytes", *rows, ""]))
    (folder / "prompt_sets.csv").write_text("study,notebook,sha256,variable\n")
    return folder


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers in the way that its server was told."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """One file."""
        server: Any = self.server
        way, rng = server.way, server.rng
        body = FILES.get(self.path.rpartition("/")[2], b"")
        if way == "garbage":
            self.wfile.write(rng.randbytes(rng.choice([1, 90, 5000])))
            self.close_connection = True
            return
        self.send_response(rng.choice([201, 301, 403, 404, 410, 500, 503]) if way == "status" else
                           302 if way in ("redirect", "loop", "file address") else 200)  # fmt: skip
        if way in ("redirect", "loop", "file address"):
            to = {"redirect": "/nowhere", "loop": self.path, "file address": "file:///etc/passwd"}
            self.send_header("Location", to[way])
        if way == "gzip":
            self.send_header("Content-Encoding", "gzip")
        length = {"wrong length": len(body) + 7, "longer": len(body) + 1, "stays open": None}
        sent = {
            "cut": body[: len(body) // 2],
            "longer": body + b"x",
            "other": body[::-1],
            "empty": b"",
        }
        if (n := length.get(way, len(sent.get(way, body)))) and way not in ("no length", "endless"):
            self.send_header("Content-Length", str(n))
        self.send_header("Connection", "close")
        self.end_headers()
        if way == "endless":
            for _ in range(200):
                self.wfile.write(b"x" * 10**5)
        elif way == "drips":
            for at in range(0, len(body), 50):
                self.wfile.write(body[at : at + 50])
                time.sleep(rng.choice([0.001, 0.5]))
        else:
            self.wfile.write(sent.get(way, body))
            if way == "stays open":
                self.wfile.flush()
                time.sleep(20)
        self.close_connection = True


def mirrors(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """The two pinned files are there, or nothing is, within the deadline."""
    while True:
        way, seed = rng.choice(WAYS), rng.randrange(2**32)
        yield Attempt(f"{way}, seed {seed}", partial(served, folder, way, seed))


def served(folder: Path, way: str, seed: int, work: Path) -> None:
    """One of them."""
    from layerwise.errors import LayerwiseError
    from layerwise.papers.fetching.upstream import fetch

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *given: object) -> None:
            """The client left."""

    server: Any = Server(("127.0.0.1", 0), Handler)
    server.way, server.rng = way, random.Random(seed)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"http://user:{SECRET}@127.0.0.1:{server.server_port}/a"
    began = time.monotonic()
    try:
        fetch(work / "data", address, published=folder, retries=0)
    except LayerwiseError as error:
        if SECRET in str(error) or [*work.glob("data/*")]:
            raise AssertionError(f"the password, or something left: {error}") from None
        raise
    finally:
        assert time.monotonic() - began < 15, "later than the deadline"
    assert {one.name: one.read_bytes() for one in (work / "data").iterdir()} == FILES


ODD = ("", " ", "/", "@", ":", "%", "?", "#", "\\", "é", "//", "'", '"', "(", "&")
SCHEMES = ("http://", "https://", "//", "", "ftp://", "HTTP://", "http:/", "git+ssh://")


def passwords(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """No form of an address has its password or token printed, by an error or by `doctor`."""
    while True:
        odd = rng.choice(ODD)
        secret = f"{rng.choice(['', 'x'])}{odd}{SECRET}{rng.choice(['', odd, 'x'])}"
        scheme = rng.choice(SCHEMES)
        host = rng.choice(["127.0.0.1:1", "[::1]:1", "host.invalid", "", "127.0.0.1:99999999"])
        form = rng.choice(["user", "user", "alone", "query", "two"])
        address = {
            "user": f"{scheme}user:{secret}@{host}/a",
            "alone": f"{scheme}{SECRET}@{host}/a",
            "query": f"{scheme}{host}/a?{rng.choice(['token', 'a=b&sig', 'x'])}={SECRET}",
            "two": f"{scheme}a:{SECRET}@b:{secret}@{host}/",
        }[form]
        yield Attempt(address, partial(printed, folder, address))


def printed(folder: Path, address: str, work: Path) -> None:
    """One of them."""
    import os

    from layerwise.errors import LayerwiseError
    from layerwise.papers.fetching.upstream import MIRROR_VARIABLE, fetch
    from layerwise.present import terminal
    from layerwise.run.doctor import Check, as_document, as_text, examine, measuring

    os.environ[MIRROR_VARIABLE] = address
    found = examine({"data": Check(measuring.data, ())}, work)
    said = terminal.as_text(as_text(found))
    assert SECRET not in said, said
    assert SECRET not in json.dumps(as_document(found))
    try:
        fetch(work / "data", published=folder, retries=0)
    except LayerwiseError as error:
        if SECRET in str(error):
            raise AssertionError(str(error)) from None
        raise
    raise AssertionError("there is no such mirror")


KINDS = {"mirrors": Kind(mirrors, prepare), "passwords": Kind(passwords, prepare)}
