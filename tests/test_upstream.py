import hashlib
import http.server
import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.inputs.upstream import DATA_FILES, fetch, read_registry, result_file, verify_data

RESULT = "Results/one.json"
DATASET = b'{"category": {"pairs": []}}'
SETS = [
    ("listed", "notebooks/a.ipynb", "PROMPTS", ["first prompt", "second prompt"]),
    ("single", "notebooks/b.ipynb", "PROMPT", "only prompt"),
    ("grouped", "notebooks/c.ipynb", "GROUPS", {"z": ["last"], "a": ["first"]}),
]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def notebook(variable: str, value: object) -> bytes:
    cells = [
        {"cell_type": "markdown", "source": [f"{variable} = ['prose']"]},
        {"cell_type": "code", "source": ["!pip install something\n", f"{variable} = {value!r}\n"]},
    ]
    return json.dumps({"cells": cells}).encode()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small upstream: mirror/ with a prompts.json, plain/ with notebooks, and the registry."""
    document, sets = {}, []
    for study, path, variable, value in SETS:
        content = notebook(variable, value)
        (tmp_path / "plain" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plain" / path).write_bytes(content)
        document[study] = {
            "notebook": path,
            "notebook_sha256": sha256(content),
            "variable": variable,
            "prompts": value,
        }
        sets.append(f"{study},{path},{sha256(content)},{variable}\n")
    prompts = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False).encode()
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "prompts.json").write_bytes(prompts)
    rows = []
    for path, content in (("dataset.json", DATASET), ("prompts.json", prompts), (RESULT, b"[1]")):
        rows.append(f"{path},{sha256(content)},{len(content)}\n")
        if path != "prompts.json":
            for root in ("plain", "mirror"):
                (tmp_path / root / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / root / path).write_bytes(content)
    published = tmp_path / "published"
    published.mkdir()
    (published / "registry.csv").write_text("path,sha256,bytes\n" + "".join(rows))
    (published / "prompt_sets.csv").write_text("study,notebook,sha256,variable\n" + "".join(sets))
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


def send(body: bytes, status: int = 200, length: int | None = None) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> bool:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body) if length is None else length))
        request.end_headers()
        request.wfile.write(body)
        return True

    return answer


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


def test_environment_names_the_mirror(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYERWISE_MIRROR", str(site / "mirror"))
    assert (get(site, None) / "dataset.json").read_bytes() == DATASET


def test_argument_goes_before_the_environment(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYERWISE_MIRROR", str(site / "nowhere"))
    assert (get(site, site / "mirror") / "dataset.json").read_bytes() == DATASET


def test_whole_data_are_not_fetched_again(site: Path) -> None:
    data = get(site, site / "mirror")
    before = (data / "dataset.json").stat().st_mtime_ns
    shutil.rmtree(site / "mirror")
    get(site, site / "mirror")
    assert (data / "dataset.json").stat().st_mtime_ns == before


def test_altered_data_are_repaired(site: Path) -> None:
    data = get(site, site / "mirror")
    (data / "dataset.json").write_bytes(b"{}")
    get(site, site / "mirror")
    assert (data / "dataset.json").read_bytes() == DATASET


def test_failed_fetch_keeps_what_was_there(site: Path) -> None:
    data = get(site, site / "mirror")
    (data / "dataset.json").write_bytes(b"mine")
    (site / "mirror" / "prompts.json").unlink()
    with pytest.raises(LayerwiseError):
        get(site, site / "mirror")
    assert (data / "dataset.json").read_bytes() == b"mine"
    assert leftovers(site) == sorted(DATA_FILES)


@pytest.mark.parametrize("over_http", [False, True], ids=["folder", "address"])
def test_wrong_bytes(site: Path, serve: Callable[..., str], over_http: bool) -> None:
    (site / "mirror" / "prompts.json").write_bytes(b"x" * 10_000)
    with pytest.raises(LayerwiseError, match=r"prompts\.json: wrong bytes, expected sha256 \w{64}"):
        get(site, serve("mirror") if over_http else site / "mirror")
    assert leftovers(site) == []


def test_wrong_notebook(site: Path) -> None:
    (site / "plain" / "notebooks" / "b.ipynb").write_bytes(notebook("PROMPT", "another"))
    with pytest.raises(LayerwiseError, match=r"b\.ipynb: wrong bytes"):
        get(site, site / "plain")
    assert leftovers(site) == []


def test_wrong_prompts_out_of_right_notebooks(site: Path) -> None:
    table = site / "published" / "registry.csv"
    lines = [line for line in table.read_text().splitlines() if "prompts.json" not in line]
    table.write_text("\n".join([*lines, f"prompts.json,{'0' * 64},1"]) + "\n")
    with pytest.raises(
        LayerwiseError, match=r"prompts\.json, made from the notebooks: wrong bytes"
    ):
        get(site, site / "plain")


def test_truncated_transfer(site: Path, serve: Callable[..., str]) -> None:
    address = serve("mirror", send(DATASET[:5], length=len(DATASET)))
    with pytest.raises(LayerwiseError, match=r"dataset\.json: the transfer broke off"):
        get(site, address)
    assert leftovers(site) == []


@pytest.mark.parametrize("over_http", [False, True], ids=["folder", "address"])
def test_truncated_file(site: Path, serve: Callable[..., str], over_http: bool) -> None:
    (site / "mirror" / "dataset.json").write_bytes(DATASET[:5])
    with pytest.raises(LayerwiseError, match=r"dataset\.json: cut off, 5 of 27 bytes came"):
        get(site, serve("mirror") if over_http else site / "mirror")
    assert leftovers(site) == []


def test_a_passing_failure_is_tried_again(
    site: Path, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("pooch.core.time.sleep", waits.append)
    asked: list[str] = []

    def once(request: http.server.BaseHTTPRequestHandler) -> bool:
        asked.append(request.path)
        return len(asked) == 1 and send(b"busy", status=503)(request)

    assert (get(site, serve("mirror", once), retries=1) / "dataset.json").read_bytes() == DATASET
    assert asked == ["/dataset.json", "/dataset.json", "/prompts.json"]
    assert waits == [1]


def test_server_error(site: Path, serve: Callable[..., str]) -> None:
    with pytest.raises(LayerwiseError, match=r"dataset\.json: the server answers HTTP 503"):
        get(site, serve("mirror", send(b"busy", status=503)))


def test_no_network(site: Path) -> None:
    with socket.socket() as taken:  # bound but not listening: every connection is refused
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(LayerwiseError, match=r"cannot be reached .*name a mirror"):
            get(site, address)
    assert leftovers(site) == []


def test_address_without_the_file(site: Path, serve: Callable[..., str]) -> None:
    (site / "mirror" / "dataset.json").unlink()
    with pytest.raises(LayerwiseError, match=r"dataset\.json: no such file \(HTTP 404\)"):
        get(site, serve("mirror"), retries=5)  # a missing file is not asked for again


def test_folder_without_the_file(site: Path) -> None:
    (site / "mirror" / "dataset.json").unlink()
    with pytest.raises(LayerwiseError, match=r"the mirror .* has no file dataset\.json"):
        get(site, site / "mirror")
    assert leftovers(site) == []


def test_folder_without_prompts_and_notebooks(site: Path) -> None:
    (site / "mirror" / "prompts.json").unlink()
    with pytest.raises(LayerwiseError, match=r"prompts\.json.*neither this file nor all the note"):
        get(site, site / "mirror")


def test_no_such_folder(site: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"nowhere must be a folder, there is none"):
        get(site, site / "nowhere")


def test_unknown_scheme(site: Path) -> None:
    with pytest.raises(LayerwiseError, match="a folder or an address with http:// or https://"):
        get(site, "ftp://127.0.0.1/")


def test_target_is_a_file(site: Path) -> None:
    (site / "data").write_text("mine")
    with pytest.raises(LayerwiseError, match="the data go into a folder, this is a file"):
        get(site, site / "mirror")


def test_verify_missing(site: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"dataset\.json: the data are not here; run `layer"):
        verify_data(site / "data", published=site / "published")


@pytest.mark.parametrize("name", DATA_FILES)
def test_verify_tampered(site: Path, name: str) -> None:
    data = get(site, site / "mirror")
    (data / name).write_bytes((data / name).read_bytes() + b" ")
    with pytest.raises(LayerwiseError, match=rf"{name}: the data must be the pinned ones"):
        verify_data(data, published=site / "published")


def test_result_file(site: Path, serve: Callable[..., str]) -> None:
    for mirror in (site / "mirror", serve("mirror")):
        assert result_file(RESULT, mirror, published=site / "published", retries=0) == b"[1]"


def test_result_file_unknown(site: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"other\.json: no published file of this name"):
        result_file("other.json", site / "mirror", published=site / "published")


def test_registry_iv(site: Path) -> None:
    (site / "published" / "registry.csv").write_text("path,sha256\n")
    with pytest.raises(LayerwiseError, match="the first line must be path,sha256,bytes"):
        read_registry(site / "published")
    (site / "published" / "registry.csv").unlink()
    with pytest.raises(LayerwiseError, match=r"registry\.csv: the table is missing"):
        read_registry(site / "published")


def test_committed_registry() -> None:
    registry = read_registry()
    assert len(registry.pins) == 63
    assert len(registry.prompt_sets) == 17
    assert registry.pins["dataset.json"].size == 33180


def test_every_result_file_against_published(mirror: Path) -> None:
    for path, pin in read_registry().pins.items():
        assert len(result_file(path, mirror)) == pin.size


def test_prompts_against_published(mirror: Path) -> None:
    document = json.loads(result_file("prompts.json", mirror))
    sets = {entry.study: entry for entry in read_registry().prompt_sets}
    assert sorted(document) == sorted(sets)
    for study, entry in document.items():
        assert entry["notebook_sha256"] == sets[study].sha256
        assert entry["notebook"] == sets[study].notebook
        assert entry["variable"] == sets[study].variable
