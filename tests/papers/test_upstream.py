import contextlib
import hashlib
import http.server
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.files import write_text
from layerwise.papers.fetching.notebooks import NotebookPrompts, prompts_document
from layerwise.papers.fetching.upstream import (
    DATA_FILES,
    fetch,
    read_registry,
    result_file,
    verify_data,
)

RESULT = "Results/one.json"
DATASET = b'{"category": {"pairs": []}}'


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def notebook(variable: str, value: object) -> bytes:
    cells = [
        {"cell_type": "markdown", "source": [f"{variable} = ['prose']"]},
        {"cell_type": "code", "source": ["!pip install something\n", f"{variable} = {value!r}\n"]},
    ]
    return json.dumps({"cells": cells}).encode()


SETS = {
    ("listed", "notebooks/a.ipynb", "PROMPTS"): ["first prompt", "second prompt"],
    ("single", "notebooks/b.ipynb", "PROMPT"): "only prompt",
    ("grouped", "notebooks/c.ipynb", "GROUPS"): {"z": ["last"], "a": ["first"]},
}
NOTEBOOKS = {path: notebook(variable, value) for (_, path, variable), value in SETS.items()}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small upstream: mirror/ with a prompts.json, plain/ with notebooks, and the registry."""
    sets = [
        NotebookPrompts(study, path, sha256(NOTEBOOKS[path]), variable)
        for study, path, variable in SETS
    ]
    prompts = prompts_document(sets, lambda entry: NOTEBOOKS[entry.notebook])
    own = {"dataset.json": DATASET, RESULT: b"[1]"}
    for root, files in (("mirror", own | {"prompts.json": prompts}), ("plain", own | NOTEBOOKS)):
        for path, content in files.items():
            (tmp_path / root / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / root / path).write_bytes(content)
    pins = [
        (path, sha256(content), str(len(content)))
        for path, content in (own | {"prompts.json": prompts}).items()
    ]
    for name, rows in (
        ("registry", [("path", "sha256", "bytes"), *pins]),
        ("prompt_sets", [NotebookPrompts._fields, *sets]),
    ):
        write_text(tmp_path / "published" / f"{name}.csv", "\n".join(map(",".join, rows)) + "\n")
    return tmp_path


Answer = Callable[[http.server.BaseHTTPRequestHandler], bool]


@pytest.fixture
def serve(site: Path) -> Iterator[Callable[..., str]]:
    """Serve a folder of `site` on this machine; `answer` may take a request over."""
    servers = []

    def start(folder: str, answer: Answer = lambda request: False) -> str:
        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=str(site / folder))  # type: ignore[arg-type]

            def do_GET(self) -> None:
                if not answer(self):
                    super().do_GET()

            def log_message(self, *arguments: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join(5)
        server.server_close()


def get(site: Path, mirror: str | Path | None, retries: int = 0) -> Path:
    fetch(site / "data", mirror, published=site / "published", retries=retries)
    return site / "data"


def leftovers(site: Path) -> list[str]:
    folder = site / "data"
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize("kind", ["mirror", "plain"])
@pytest.mark.parametrize("over_http", [False, True], ids=["folder", "address"])
def test_right_bytes_by_both_routes(
    site: Path, serve: Callable[..., str], kind: str, over_http: bool
) -> None:
    data = get(site, serve(kind) if over_http else site / kind)
    assert (data / "dataset.json").read_bytes() == DATASET
    prompts = (data / "prompts.json").read_bytes()
    assert prompts == (site / "mirror" / "prompts.json").read_bytes()
    assert leftovers(site) == sorted(DATA_FILES)
    verify_data(data, published=site / "published")


def test_whole_data_stay_and_altered_ones_are_repaired(site: Path) -> None:
    data = get(site, site / "mirror")
    for name in DATA_FILES:
        right = (data / name).read_bytes()
        (data / name).write_bytes(right + b" ")
        with pytest.raises(LayerwiseError, match=rf"{name}: the data must be the pinned ones"):
            verify_data(data, published=site / "published")
        get(site, site / "mirror")
        assert (data / name).read_bytes() == right
    before = (data / "dataset.json").stat().st_mtime_ns
    shutil.rmtree(site / "mirror")
    get(site, site / "mirror")
    assert (data / "dataset.json").stat().st_mtime_ns == before


WRONG = [
    ("mirror", "mirror/dataset.json", DATASET[:-1] + b"]", r"dataset\.json: wrong bytes, expect"),
    ("mirror", "mirror/prompts.json", b"x" * 10_000, r"prompts\.json: wrong bytes.*more than \d"),
    ("mirror", "mirror/dataset.json", DATASET[:5], r"dataset\.json: cut off, 5 of 27 bytes came"),
    ("mirror", "mirror/dataset.json", None, r"(no such|has no) file.*(HTTP 404|dataset)"),
    ("mirror", "mirror/prompts.json", None, r"neither prompts\.json nor all the notebooks"),
    ("plain", "plain/notebooks/b.ipynb", notebook("PROMPT", "x"), r"b\.ipynb: wrong bytes"),
    (
        "plain",
        "published/registry.csv",
        f"path,sha256,bytes\ndataset.json,{sha256(DATASET)},27\nprompts.json,{'0' * 64},656\n",
        r"prompts\.json, made from the notebooks: wrong bytes",
    ),
]


@pytest.mark.parametrize(("kind", "file", "content", "message"), WRONG)
@pytest.mark.parametrize("over_http", [False, True], ids=["folder", "address"])
def test_what_is_not_whole_leaves_what_was_there(
    site: Path, serve: Callable[..., str], kind: str, file: str, content, message: str, over_http
) -> None:
    (site / "data").mkdir()
    (site / "data/dataset.json").write_bytes(b"mine")
    if content is None:
        (site / file).unlink()
    else:
        (site / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LayerwiseError, match=message):
        get(site, serve(kind) if over_http else site / kind)
    assert leftovers(site) == ["dataset.json"]
    assert (site / "data/dataset.json").read_bytes() == b"mine"


def test_a_passing_failure_is_tried_again_and_a_missing_file_is_not(
    site: Path, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("layerwise.papers.fetching.mirrors.time.sleep", waits.append)
    asked: list[str] = []

    def once(request: http.server.BaseHTTPRequestHandler) -> bool:
        asked.append(request.path)
        if len(asked) == 1:
            request.send_error(503)
        return len(asked) == 1

    address = serve("mirror", once)
    (site / "mirror" / "prompts.json").unlink()
    with pytest.raises(LayerwiseError, match=r"nor all the notebooks.*no such file \(HTTP 404\)"):
        get(site, address, retries=5)
    assert asked == ["/dataset.json", "/dataset.json", "/prompts.json", "/notebooks/a.ipynb"]
    assert waits == [1]
    with pytest.raises(LayerwiseError, match=r"dataset\.json: cannot be read \(HTTP 503\); check"):
        get(site, serve("mirror", lambda request: bool(request.send_error(503)) or True))


def test_places_refused(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument goes before the environment."""
    monkeypatch.setenv("LAYERWISE_MIRROR", str(site / "nowhere"))
    for mirror in ("ftp://127.0.0.1/", None):
        with pytest.raises(LayerwiseError, match="there is none, or an address with http:// or"):
            get(site, mirror)
    with pytest.raises(LayerwiseError, match=r"dataset\.json: the data are not here; run `layer"):
        verify_data(site / "data", published=site / "published")
    assert (get(site, site / "mirror") / "dataset.json").read_bytes() == DATASET
    shutil.rmtree(site / "data")
    (site / "data").write_text("mine")
    with pytest.raises(LayerwiseError, match="the data go into a folder, this is a file"):
        get(site, site / "mirror")


def test_result_file_and_registry_refused(site: Path, serve: Callable[..., str]) -> None:
    published = site / "published"
    for mirror in (site / "mirror", serve("mirror")):
        assert result_file(RESULT, mirror, published=published) == b"[1]"
    with pytest.raises(LayerwiseError, match=r"other\.json: no published file of this name"):
        result_file("other.json", site / "mirror", published=published)
    (published / "registry.csv").write_text("path,sha256\n")
    with pytest.raises(LayerwiseError, match="the first line must be path,sha256,bytes"):
        read_registry(published)


def test_every_result_file_against_published(mirror: Path) -> None:
    for path, pin in read_registry().pins.items():
        assert len(result_file(path, mirror)) == pin.size


def test_a_body_without_end_is_cut_short(site: Path, serve: Callable[..., str]) -> None:
    def endless(request: http.server.BaseHTTPRequestHandler) -> bool:
        request.send_response(200)
        request.end_headers()
        with contextlib.suppress(OSError):
            while True:
                request.wfile.write(bytes(2**20))
        return True

    with pytest.raises(LayerwiseError, match=r"wrong bytes.*of more than 27 bytes; take the"):
        get(site, serve("mirror", endless))
    assert leftovers(site) == []


@pytest.mark.parametrize(
    "address", ["http://me:a/secret@h/", "me:secret@h/x", "http://h/x?token=secret"]
)
def test_no_form_of_an_address_shows_its_secret(site: Path, address: str) -> None:
    said = r"the mirror .*check LAYERWISE_MIRROR, or `layerwise fetch --mirror`$"
    with pytest.raises(LayerwiseError, match=said) as error:
        get(site, address)
    assert "secret" not in str(error.value)
