# SPDX-License-Identifier: MIT
"""A browser without a screen, driven over a pipe (Chrome's DevTools protocol): no port, and nothing beside Python.

    with Browser(PROGRAM) as b:
        b.open(URL); b.until("EXPRESSION"); b.value("EXPRESSION"); b.screenshot(x=..., ...)
"""
import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

NAMES = "chromium-headless-shell chromium chromium-browser google-chrome".split()


def program():
    """The first browser there is that starts, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path and not subprocess.run([path, "--headless", "--no-sandbox", "--version"], capture_output=True).returncode:
            return path
    return None


def unfilter(kind, line, above, n):
    for i in range(len(line)):
        left, up, corner = (line[i - n] if i >= n else 0), above[i], (above[i - n] if i >= n else 0)
        if kind == 1:
            line[i] = line[i] + left & 255
        elif kind == 2:
            line[i] = line[i] + up & 255
        elif kind == 3:
            line[i] = line[i] + (left + up >> 1) & 255
        elif kind == 4:
            p = left + up - corner
            line[i] = line[i] + min((left, up, corner), key=lambda v: abs(p - v)) & 255


def colours(png):
    """Of a PNG of 8 bits without a palette, as browsers write them."""
    at, data, head = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        head = png[at + 8:at + 8 + size] if kind == b"IHDR" else head
        data += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    width, height, bits, kind = struct.unpack(">IIBB", head[:10])
    assert bits == 8 and kind in (2, 6)
    n, raw, found = (3 if kind == 2 else 4), zlib.decompress(data), {}
    above = bytearray(width * n)
    for y in range(height):
        row = y * (width * n + 1)
        line = bytearray(raw[row + 1:row + 1 + width * n])
        unfilter(raw[row], line, above, n)
        for x in range(0, width * n, n):
            c = tuple(line[x:x + 3])
            found[c] = found.get(c, 0) + 1
        above = line
    return found


class Browser:
    def __init__(self, path):
        self.path, self.number, self.rest, self.session, self.events = path, 0, b"", None, []

    def __enter__(self):
        self.home = tempfile.mkdtemp()
        theirs_in, self.out = os.pipe()
        self.inp, theirs_out = os.pipe()
        fds = (theirs_in, theirs_out)

        def place():  # descriptors 3 and 4 are what --remote-debugging-pipe means
            high = [os.dup(os.dup(os.dup(f))) for f in fds]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.child = subprocess.Popen(
            [self.path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={self.home}", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page Runtime Network Log".split():
            self.call(domain + ".enable")
        # what a worker of the page asks for is seen as well
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.rest:
            if not select.select([self.inp], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            some = os.read(self.inp, 1 << 16)
            if not some:
                raise EOFError("the browser has ended")
            self.rest += some
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def send(self, method, session, params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if session:
            m["sessionId"] = session
        os.write(self.out, json.dumps(m).encode() + b"\0")
        return self.number

    def call(self, method, session=None, patience=90, **params):
        number, deadline = self.send(method, session or self.session, params), time.monotonic() + patience
        while True:
            m = self.message(deadline)
            if m.get("id") == number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            if "method" in m:
                self.events.append(m)
                if m["method"] == "Target.attachedToTarget":
                    child = m["params"]["sessionId"]
                    self.send("Network.enable", child, {})
                    self.send("Runtime.runIfWaitingForDebugger", child, {})

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{expression}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def until(self, expression, patience=60):
        deadline = time.monotonic() + patience
        while not self.holds(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never: {expression}\n{self.value('document.body.innerText')}")

    def holds(self, expression):
        """Looked at 50 ms from now. A page that is just being left cannot answer."""
        try:
            return self.value("new Promise(done => setTimeout(() => {"
                              f"try {{ done(!!({expression})) }} catch {{ done(false) }} }}, 50))")
        except RuntimeError:
            return False

    def screenshot(self, **clip):
        """The colours of a part of the page, and how often each is there: {(r, g, b): pixels}."""
        png = base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])
        return colours(png)

    def said(self, method):
        return [m["params"] for m in self.events if m.get("method") == method]
