#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a program that is aborted leaves a core file: prints yes or no.

    core.py PROGRAM ARG...      it is given --ready-fd, and aborted when it is ready
"""
import os
import resource
import signal
import subprocess
import sys

hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
size = 1 << 20 if hard == resource.RLIM_INFINITY else min(hard, 1 << 20)
resource.setrlimit(resource.RLIMIT_CORE, (size, hard))
out, into = os.pipe()
with subprocess.Popen([*sys.argv[1:], "--ready-fd", str(into)], pass_fds=[into]) as p:
    os.close(into)
    if not os.read(out, 1):
        sys.exit("it did not become ready")
    p.send_signal(signal.SIGABRT)
    _, status = os.waitpid(p.pid, 0)
    p.returncode = status
print("yes" if os.WCOREDUMP(status) else "no")
