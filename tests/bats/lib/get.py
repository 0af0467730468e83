# SPDX-License-Identifier: MIT
"""get.py URL PATH [METHOD [KEY:VALUE ...]]: prints the status, the Content-Type and the body of an answer."""
import http.client
import sys
import urllib.parse

url, path, method, *headers = sys.argv[1:] + (["GET"] if len(sys.argv) == 3 else [])
c = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)
c.putrequest(method, path, skip_host=any(h.startswith("Host:") for h in headers))
for h in headers:
    c.putheader(*h.split(":", 1))
c.endheaders()
r = c.getresponse()
print(r.status, r.getheader("Content-Type"), sep="\n")
print(r.read().decode(), end="")
