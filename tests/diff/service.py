# SPDX-License-Identifier: MIT
"""Services for the checks: dispatchers with workers on private sockets, started
when first asked for, and ended with this process, whatever becomes of it."""
import functools
import os
import shutil
import subprocess
import tempfile
import threading

import harness

LOCK = threading.Lock()


def start(argv, started):
    """Waits for the program's own word that it is ready. Its standard input is a pipe
    of ours: --until-stdin-eof ends it when we are gone."""
    r, w = os.pipe()
    # What `print` and children write to its stderr is nobody's answer.
    p = subprocess.Popen([*argv, "-q", "--until-stdin-eof", "--ready-fd", str(w)], stdin=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, pass_fds=(w,))
    started.append(p)
    os.close(w)
    with os.fdopen(r) as ready:
        if not ready.readline():
            raise harness.Failed(f"{argv} did not start")


@functools.lru_cache(None)
def make(workers):
    folder = tempfile.mkdtemp(prefix="dsvc-")
    endpoint, started = f"ipc://{folder}/d", []

    def end():
        for p in reversed(started):
            p.stdin.close()
        for p in started:
            p.wait(harness.LIMIT)
        shutil.rmtree(folder, ignore_errors=True)

    harness.ENDS.append(end)
    start([harness.BIN + "/dsvc-dispatch", "-b", endpoint], started)
    for k in range(workers):
        start([harness.BIN + "/dsvc-work", "-d", endpoint, "-j", "1", "--name", f"w{k}"], started)
    return endpoint


def service(workers):
    """The endpoint of a service with so many workers."""
    with LOCK:
        return make(workers)
