#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""adapter.py ADDRESS PORT CERTIFICATE KEY URL: external.metrics.k8s.io with one metric, dsvc_workers_wanted, which it asks
of dsvc-export's /v1/scale at URL each time that an autoscaler asks for it."""
import datetime
import http.server
import json
import ssl
import sys
import urllib.request

GROUP = "external.metrics.k8s.io/v1beta1"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, code, what):
        body = json.dumps(what).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0].rstrip("/")
        if path == "/apis/" + GROUP:
            row = {"name": "dsvc_workers_wanted", "singularName": "", "namespaced": True,
                   "kind": "ExternalMetricValueList", "verbs": ["get"]}
            return self.answer(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": GROUP, "resources": [row]})
        if path in ("", "/apis", "/healthz"):
            return self.answer(200, {})
        if not path.endswith("/dsvc_workers_wanted"):
            return self.answer(404, {})
        try:
            with urllib.request.urlopen(sys.argv[5], timeout=3) as r:
                wanted = json.load(r)["workers_wanted"]
        except (OSError, ValueError, KeyError) as e:
            return self.answer(503, {"kind": "Status", "status": "Failure", "message": str(e), "code": 503})
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        row = {"metricName": "dsvc_workers_wanted", "metricLabels": {}, "timestamp": now, "value": str(wanted)}
        return self.answer(200, {"kind": "ExternalMetricValueList", "apiVersion": GROUP, "metadata": {}, "items": [row]})

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
