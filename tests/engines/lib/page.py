# SPDX-License-Identifier: MIT
"""page.py CHECK URL: what a browser sees of the page of dsvc-export. Ends with 77 where there is no browser."""
import statistics
import sys
import time

import browser

WATCH = """{
	const now = () => performance.now(), raf = window.requestAnimationFrame;
	const clear = CanvasRenderingContext2D.prototype.clearRect, on = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
	let cleared = 0;
	window.test = { frames: [], most: 0, updates: [] };
	CanvasRenderingContext2D.prototype.clearRect = function (...a) {
		cleared += this.canvas.id === "picture";
		return clear.apply(this, a);
	};
	window.requestAnimationFrame = f => raf(t => {
		const before = cleared, at = now();
		f(t);
		if (cleared > before)
			test.frames.push(now() - at);
		test.most = Math.max(test.most, cleared - before);
	});
	Object.defineProperty(Worker.prototype, "onmessage", { set(f) {
		on.set.call(this, e => { const at = now(); f(e); if (e.data.model) test.updates.push(now() - at); });
	} });
}"""
LIVE = "document.getElementById('state')?.textContent === 'live'"
TEXT = "document.body.innerText"


def size(b, width):
    b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)


def nothing_wrong(b, url):
    """No exception, nothing on the console, and no request to anywhere else."""
    for what in "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
        assert not b.said(what), b.said(what)
    asked = {p["request"]["url"] for p in b.said("Network.requestWillBeSent")}
    assert {url, url + "page.js", url + "v1/status"} <= asked, asked
    assert all(u.startswith(url) for u in asked), asked


def picture(b, scale=0.25):
    b.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")
    box = b.value("(r => ({x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}))"
                  "(document.getElementById('picture').getBoundingClientRect())")
    return b.screenshot(scale=scale, **box)


def look(b, url):
    """A job JOB of a worker NAME, both names of scripts, and a second of each: light, dark, and on a telephone."""
    grounds = {}
    for scheme, width in ("light", 1100), ("dark", 1100), ("light", 400):
        b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        size(b, width)
        b.open(url)
        b.until(f"{LIVE} && document.querySelectorAll('#pass-rows tr').length === 2")
        b.until("document.querySelectorAll('#worker-rows tr').length === 2 && +document.getElementById('readers').textContent === 2")
        b.until("document.getElementById('legend').textContent.includes('running')")
        deadline = time.monotonic() + 20
        while len(seen := picture(b)) <= 8:
            assert time.monotonic() < deadline, f"{scheme}: nothing is drawn, {seen}"
        ground = max(seen, key=seen.get)
        grounds[scheme] = sum(ground)
        assert b.value("document.documentElement.scrollWidth <= innerWidth"), f"{width}: wider than the screen"
    assert grounds["light"] > 600 and grounds["dark"] < 200, grounds
    text = b.value(TEXT)
    for name in '<script>document.title="owned"</script>', "<img src=x onerror=alert(1)>":
        assert name in text, text
    assert b.value("document.title") == "dsvc"
    assert not b.value("document.querySelectorAll('img, #worker-rows script').length")
    # a list of what a screen reader would say
    said = [n.get("name", {}).get("value", "") for n in b.call("Accessibility.getFullAXTree")["nodes"]]
    for words in "Passes", "Workers", "Events", "elements a second", "live":
        assert words in said, words
    assert any("2 workers" in s and "streams" in s for s in said), said
    # a report is what somebody says
    assert b.value("""import("./model.js").then(m => m.digest({ workers: 7, readers: [3, null, { name: {} }], events: "x", jobs: [null,
        { name: 5, iterations: [9, { state: "running", lately: 3, streams: [1, { state: {}, worker: [] }] }] }] }, null, 0))
        .then(d => [d.passes.length, d.passes[0].cells.length, d.readers.length, d.readers[0].name].join())""") == "1,1,1,"
    nothing_wrong(b, url)


def press(b, key):
    for kind in "keyDown", "keyUp":
        b.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def keys(b, url):
    """Streams by arrow keys, a worker by its button."""
    size(b, 1100)
    b.open(url)
    b.until(f"{LIVE} && document.querySelectorAll('#worker-rows tr').length === 2")
    b.value("document.getElementById('picture').focus()")
    about = "document.getElementById('about').textContent"
    press(b, "ArrowRight")
    b.until(f"/stream 0: /.test({about})")
    press(b, "ArrowRight")
    b.until(f"/stream 1: /.test({about})")
    press(b, "End")
    press(b, "ArrowRight")
    b.until(f"/stream 0: /.test({about})")
    press(b, "Escape")
    b.until(f"{about} === ''")
    b.value("document.querySelector('#worker-rows button').focus()")
    b.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    b.until("document.querySelector('#worker-rows button').getAttribute('aria-pressed') === 'true'")
    nothing_wrong(b, url)


def many(b, url):
    """Ten thousand streams: what a frame costs, and what a report."""
    b.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    size(b, 1100)
    b.open(url)
    b.until("/, 10000 streams of 10 passes /.test(document.getElementById('picture').getAttribute('aria-label'))")
    b.value("test.frames.length = test.updates.length = 0")
    b.until("test.frames.length >= 60 && test.updates.length >= 3")
    frames, updates = b.value("test.frames"), b.value("test.updates")
    print(f"# frames: median {statistics.median(frames):.2f} ms, most {max(frames):.2f} of {len(frames)}; "
          f"reports: median {statistics.median(updates):.2f} ms of {len(updates)}")
    assert b.value("test.most") == 1, "more than one picture in a frame"
    assert statistics.median(frames) < 16, frames
    nothing_wrong(b, url)


def goes(b, url):
    """The dispatcher is killed when this says so, and the page tells it; it comes back, and so does the page."""
    b.open(url)
    b.until(LIVE)
    print("live", flush=True)
    b.until("/^no report since .*: ./.test(document.getElementById('state').textContent)")
    print("lost", flush=True)
    b.until(LIVE)


def main(check, url):
    path = browser.program()
    if not path:
        return 77
    with browser.Browser(path) as b:
        globals()[check](b, url)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
