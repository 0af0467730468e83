# SPDX-License-Identifier: MIT
"""A service of dsvc in a Ray cluster: its dispatcher and workers are actors, which Ray places and starts again.

    with dsvc_ray.Service(workers=4, slots=2) as address:
        subprocess.run(["dsvc-read", "-d", address, "-e", "range 1000"])

Each process has its actor's end of a pipe as stdin, and ends when the actor does, however that ends. The programs are
found on PATH of the nodes, and this file on their PYTHONPATH; one that runtime_env gives takes the place of theirs, by
which ray itself may be found, so it has to name both.

Without `state`, a folder that all nodes share, the service ends with its dispatcher; with it a dispatcher that was
killed comes back, wherever Ray puts it, and is followed: the address is then @FILE in it.

The nodes know each other by a key that is made for this service, and no other user of the nodes gets in. Readers in
other processes of the driver's machine have it from the environment that Service sets (XDG_CONFIG_HOME) and restores.
"""
import os
import shutil
import subprocess
import tempfile
import time

import ray


def _start(argv, key, **env):
    """Starts a program with the key of this service in a folder of its own, which is returned, too."""
    home = tempfile.mkdtemp(prefix="dsvc-ray-")
    _put(home, key)
    p = subprocess.Popen(
        [*argv, "--until-stdin-eof"], stdin=subprocess.PIPE,
        env={**os.environ, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home, **env})
    return p, home


def _put(home, files):
    os.mkdir(os.path.join(home, "dsvc"), 0o700)
    for name, text in files.items():
        path = os.path.join(home, "dsvc", name)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(text)


def _make_key():
    home = tempfile.mkdtemp(prefix="dsvc-ray-")
    path = os.path.join(home, "key")
    try:
        public = subprocess.run(["dsvc-keygen", "-q", "-o", path], check=True, capture_output=True, text=True).stdout
        with open(path) as f:
            return f.read(), public.split()[-1]
    finally:
        shutil.rmtree(home)


class _Process:
    """An actor that is one process; it ends with it, so that Ray sees that and starts another."""

    def _run(self, argv, key):
        self.p, self.home = _start(argv, key)

    def ping(self):
        if self.p.poll() is not None:
            os._exit(1)
        return self.p.pid

    def stop(self):
        self.p.stdin.close()
        try:
            self.p.wait(30)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
        shutil.rmtree(self.home, ignore_errors=True)
        return self.p.returncode


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Dispatcher(_Process):
    def __init__(self, key, state, options):
        address = ray.util.get_node_ip_address()
        self.up = os.path.join(state or tempfile.mkdtemp(prefix="dsvc-ray-"), "up")
        keep = ["--state", os.path.join(state, "state")] if state else []
        self._run(["dsvc-dispatch", "-q", "-b", f"tcp://{address}:*", "--ready-file", self.up, *keep, *options], key)

    def address(self):
        while not os.path.exists(self.up) or not os.path.getsize(self.up):
            self.ping()
            time.sleep(0.02)
        with open(self.up) as f:
            return f.readline().strip()


@ray.remote(max_restarts=-1, max_task_retries=-1)
class Worker(_Process):
    def __init__(self, key, address, slots, options):
        self._run(["dsvc-work", "-q", "-d", address, "-j", str(slots), "--connect-timeout", "60s", *options], key)


class Service:
    """workers: how many, each with `slots` processors. state: a folder. The rest: more options of the programs."""

    def __init__(self, workers=1, slots=1, state=None, dispatch_options=(), work_options=()):
        key, public = _make_key()
        files = {"key": key}
        self.dispatcher = Dispatcher.remote(files, state, list(dispatch_options))
        at = ray.get(self.dispatcher.address.remote())
        self.address = f"@{os.path.join(state, 'up')}" if state else at
        files = {**files, "services": f"{at} {public}\n"}
        self.workers = [
            Worker.options(num_cpus=slots).remote(files, self.address, slots, list(work_options)) for _ in range(workers)]
        self._files = files

    def __enter__(self):
        self._home, self._was = tempfile.mkdtemp(prefix="dsvc-ray-"), os.environ.get("XDG_CONFIG_HOME")
        _put(self._home, self._files)
        os.environ["XDG_CONFIG_HOME"] = self._home
        return self.address

    def __exit__(self, *exc):
        if self._was is None:
            del os.environ["XDG_CONFIG_HOME"]
        else:
            os.environ["XDG_CONFIG_HOME"] = self._was
        shutil.rmtree(self._home, ignore_errors=True)
        self.stop()

    def stop(self):
        """Ends the workers, which hand over what they have, and then the dispatcher."""
        for a in [*self.workers, self.dispatcher]:
            try:
                ray.get(a.stop.remote(), timeout=60)
            finally:
                ray.kill(a)
