# SPDX-License-Identifier: MIT
"""ask_often.py URL: 16 clients that ask 20 times each, beside some that say nothing or nonsense."""
import http.client
import socket
import sys
import threading
import urllib.parse

at = urllib.parse.urlsplit(sys.argv[1])
mute = [socket.create_connection((at.hostname, at.port)) for _ in range(8)]
mute[0].send(b"GET /metrics HT")
mute[1].send(b"\0" * 70000)
codes = []


def ask(path):
    c = http.client.HTTPConnection(at.netloc)
    for _ in range(20):
        c.request("GET", path)
        r = c.getresponse()
        r.read()
        codes.append(r.status)


threads = [threading.Thread(target=ask, args=(p,)) for p in ("/metrics", "/readyz", "/v1/status", "/v1/scale") * 4]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert codes == [200] * 320, codes
