"""Headless Chromium by the WebDriver protocol: plain HTTP to chromedriver, no further package."""

import contextlib
import importlib.resources
import json
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-quic"),
    *("--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"),
    "--disable-component-update",
    # that of somebody with a mouse, which no screen is a sign of
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2",
)
IDLE = """
const [done] = arguments;
const look = () => document.querySelector("[aria-busy=true]") ? setTimeout(look, 5) : done();
look();
"""
# Two folds of every part, so that each kind of folded content is looked at; all would take minutes.
UNFOLDED = """
for (const part of document.querySelectorAll("section, article, header, nav, main")) {
  for (const fold of [...part.querySelectorAll("details")].slice(0, 2)) fold.open = true;
}
"""
VIOLATIONS = """
const [within, done] = arguments;
const told = (one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`;
axe.run(within, { resultTypes: ["violations"] }).then(
  (found) => done(found.violations.map(told)), (error) => done([String(error)]));
"""
SLOWEST = 300  # seconds that a script may take, on a machine that does much else
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name of an element's id
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Space": " ", "End": "\ue010", "Escape": "\ue00c"}
_LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def missing() -> str | None:
    """Why no browser can be driven here, or None."""
    names = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if not names:
        return None
    return f"no {' and no '.join(names)} on PATH: apt-get install chromium chromium-driver"


class Browser:
    """One browser window."""

    def __init__(self, port: int, profile: Path) -> None:
        self._base = f"http://127.0.0.1:{port}"
        flags = [*FLAGS, f"--user-data-dir={profile}"]
        options = {"binary": shutil.which("chromium"), "args": flags}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "timeouts": {"script": SLOWEST * 1000},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{answer['sessionId']}"

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with _LOCAL.open(request, timeout=SLOWEST + 10) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(f"{path}: {json.load(error)['value']['message']}") from None

    def open(self, address: str) -> None:
        """Go there, and wait until no part of the page says that it is busy."""
        self._ask("POST", f"{self._session}/url", {"url": address})
        self.run_later(IDLE)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a function body in the page."""
        body = {"script": script, "args": list(arguments)}
        return self._ask("POST", f"{self._session}/execute/sync", body)

    def run_later(self, script: str, *arguments: Any) -> Any:
        """What the function body gives to its last argument, a callback."""
        body = {"script": script, "args": list(arguments)}
        return self._ask("POST", f"{self._session}/execute/async", body)

    def find(self, selector: str) -> str:
        """The element's id."""
        found = {"using": "css selector", "value": selector}
        return self._ask("POST", f"{self._session}/element", found)[ELEMENT]

    def click(self, selector: str) -> None:
        """Click on an element, scrolled to the middle: what sticks to the top may cover it."""
        element = {ELEMENT: self.find(selector)}
        self.run("arguments[0].scrollIntoView({ block: 'center' })", element)
        self._ask("POST", f"{self._session}/element/{element[ELEMENT]}/click")
        self.settle()

    def settle(self) -> None:
        """Wait for what an input began: a link within the page tells of its place a task later."""
        self.run_later("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")

    def type(self, selector: str, text: str) -> None:
        path = f"{self._session}/element/{self.find(selector)}/value"
        self._ask("POST", path, {"text": text})

    def press(self, *keys: str) -> None:
        """Keys go to whatever has the focus."""
        strokes = []
        for key in keys:
            sign = KEYS.get(key, key)
            strokes += [{"type": "keyDown", "value": sign}, {"type": "keyUp", "value": sign}]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self._ask("POST", f"{self._session}/actions", {"actions": [keyboard]})
        self.settle()

    def devtools(self, command: str, **parameters: Any) -> Any:
        body = {"cmd": command, "params": parameters}
        return self._ask("POST", f"{self._session}/goog/cdp/execute", body)

    def size(self, width: int, height: int) -> None:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **screen)

    def scheme(self, name: str) -> None:
        """What the reader prefers: light or dark; "" for neither."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def violations(self, within: str = "html") -> list[str]:
        """The rules of accessibility that the part of the page breaks, each with the places."""
        axe = importlib.resources.files("axe_playwright_python") / "axe.min.js"
        self.run(UNFOLDED)
        self.run(axe.read_text(encoding="utf-8"))
        return self.run_later(VIOLATIONS, within)

    def console(self) -> list[str]:
        """Messages since the last call."""
        log = self._ask("POST", f"{self._session}/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in log]

    def requests(self) -> list[str]:
        """Addresses asked for since the last call."""
        log = self._ask("POST", f"{self._session}/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in log]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def close(self) -> None:
        self._ask("DELETE", self._session)


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile; both it and its driver end with the block."""
    driver = shutil.which("chromedriver")
    assert driver is not None
    command = [driver, "--port=0"]
    environment = os.environ | {"NO_PROXY": "127.0.0.1,localhost"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            started = (re.search(r"started successfully on port (\d+)", line) for line in lines)
            window = Browser(next(int(match[1]) for match in started if match), profile)
            try:
                yield window
            finally:
                window.close()
        finally:
            process.terminate()
