"""A headless Chromium, driven over its debugging pipe (two file descriptors, JSON messages that end in a zero
byte)."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds for an answer, after which the browser counts as hung


def works(program):
    """A program of that name may do no more than tell how to install the browser."""
    try:
        return (
            subprocess.run(
                [program, "--version"], capture_output=True, timeout=PATIENCE, check=False
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


FOUND = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
PROGRAM = next(filter(works, FOUND), None)
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
# the browser reads from descriptor 3 and writes to 4, which may be ours for something else until then
LAUNCHER = """
import fcntl, os, sys
hear, speak = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(hear, 3), os.dup2(speak, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One tab. Messages of the console, errors of scripts and requests to the network are collected."""

    def __init__(self):
        self.problems, self.requests = [], []
        self._numbers, self._waiting = itertools.count(1), b""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        hear, self._write = os.pipe()
        self._read, speak = os.pipe()
        command = [
            sys.executable,
            "-c",
            LAUNCHER,
            str(hear),
            str(speak),
            PROGRAM,
            *FLAGS,
            f"--user-data-dir={self._profile.name}",
        ]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            [*command, "about:blank"],
            pass_fds=(hear, speak),
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
        )
        os.close(hear)
        os.close(speak)
        self._session = None
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self._write)
        os.close(self._read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._profile.cleanup()

    def call(self, method, **parameters):
        """The answer of the browser; events that come before it are noted."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters} | (
            {"sessionId": self._session} if self._session else {}
        )
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, width=1280, height=900, scale=1, dark=False):
        self.resize(width, height, scale)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.problems.clear()
        self.requests.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.until("document.readyState === 'complete'")
        self.settle()

    def resize(self, width, height, scale=1):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 600,
        )

    def settle(self):
        """Four frames: observers and listeners were called, those that they set off too, and all is drawn."""
        self.value(
            """new Promise(done => {
                const after = frames => frames ? requestAnimationFrame(() => after(frames - 1)) : done(true);
                after(4);
            })"""
        )

    def value(self, expression):
        """What a JavaScript expression is; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def until(self, expression):
        limit = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > limit:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.settle()

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def drag(self, start, end):
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for share in (0.3, 0.7, 1):
            self.mouse(
                "mouseMoved",
                *(a + share * (b - a) for a, b in zip(start, end, strict=True)),
                button="left",
                buttons=1,
            )
        self.mouse("mouseReleased", *end, button="left", clickCount=1)
        self.settle()

    def press(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def screenshot(self, path, whole=True):
        path.write_bytes(
            base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])
        )

    def pdf(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))

    def _next(self):
        while b"\0" not in self._waiting:
            if not select.select([self._read], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._waiting += more
        message, _, self._waiting = self._waiting.partition(b"\0")
        event = json.loads(message)
        self._note(event.get("method"), event.get("params", {}))
        return event

    def _note(self, method, detail):
        if method == "Runtime.exceptionThrown":
            self.problems.append(
                detail["exceptionDetails"].get("exception", {}).get("description")
                or detail["exceptionDetails"]["text"]
            )
        elif method == "Runtime.consoleAPICalled" and detail["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(one.get("value")) for one in detail["args"]))
        elif method == "Log.entryAdded" and detail["entry"]["level"] in ("error", "warning"):
            self.problems.append(detail["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not detail["request"]["url"].startswith("data:"):
            self.requests.append(detail["request"]["url"])
