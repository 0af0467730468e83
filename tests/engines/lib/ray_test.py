# SPDX-License-Identifier: MIT
"""A pass through a service of Ray's actors, one of which is killed in the middle of it. Prints `whole` if it is."""
import os
import signal
import subprocess
import sys
import time

import ray

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../engines/ray"))
import dsvc_ray

if __name__ == "__main__":
    state = sys.argv[1] if len(sys.argv) > 1 else None
    # Beside what is there already: ray itself may be found by it.
    path = os.pathsep.join(filter(None, [os.path.dirname(dsvc_ray.__file__), os.environ.get("PYTHONPATH")]))
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, _temp_dir=os.environ["RAY_TMPDIR"],
             runtime_env={"env_vars": {"PYTHONPATH": path}})
    service = dsvc_ray.Service(workers=2, slots=1, state=state)
    with service as address:
        pids = ray.get([a.ping.remote() for a in service.workers + [service.dispatcher]])
        reader = subprocess.Popen(
            ["dsvc-read", "-d", address, "--wait-workers", "2/60s", "-t", "text", "-e", "range 3000 | sleep 2ms"],
            stdout=subprocess.PIPE, text=True)
        first = reader.stdout.readline()
        # The actor's process, with which the worker ends.
        killed = int(open(f"/proc/{pids[0]}/status").read().split("PPid:")[1].split()[0])
        os.kill(killed, signal.SIGKILL)
        out = sorted(int(x) for x in [first, *reader.stdout])
        end = time.monotonic() + 100
        while ray.get(service.workers[0].ping.remote()) == pids[0] and time.monotonic() < end:
            time.sleep(0.1)
    ray.shutdown()
    left = [p for p in pids if os.path.exists(f"/proc/{p}")]
    print("whole" if reader.wait() == 0 and out == list(range(3000)) and not left else (reader.returncode, len(out), left))
