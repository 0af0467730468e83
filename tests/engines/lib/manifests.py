# SPDX-License-Identifier: MIT
"""Looks at what `kustomize build` prints.

    manifests.py check FILE                      what is wrong with the pods, a line each
    manifests.py rules FILE RULES                whether the PrometheusRule has the groups of RULES
    manifests.py secret FILE NAME FOLDER         writes the files of a secret
    manifests.py command FILE KIND CONTAINER     VARIABLE=VALUE... and the words of its command, each ended by NUL
"""
import base64
import os
import sys

import yaml


def documents(path):
    with open(path) as f:
        return [d for d in yaml.safe_load_all(f) if d]


def pods(path):
    for d in documents(path):
        template = d.get("spec", {}).get("template")
        if template and "containers" in template.get("spec", {}):
            yield d["kind"] + "/" + d["metadata"]["name"], d, template["spec"]


def restricted(name, pod):
    """What Pod Security wants at its level `restricted`, and what these pods want besides."""
    own = pod.get("securityContext", {})
    wants = [
        (own.get("runAsNonRoot") is True, "runAsNonRoot"),
        (own.get("seccompProfile", {}).get("type") == "RuntimeDefault", "seccompProfile"),
        (pod.get("automountServiceAccountToken") is False, "no token of a service account"),
        (pod.get("enableServiceLinks") is False, "no variables DSVC_* of services"),
        (not any(pod.get(k) for k in ("hostNetwork", "hostPID", "hostIPC")), "nothing of the host"),
        (all(set(v) & {"secret", "emptyDir", "persistentVolumeClaim", "configMap"} for v in pod.get("volumes", [])),
         "volumes of allowed kinds"),
    ]
    for c in pod["containers"]:
        s = c.get("securityContext", {})
        wants += [
            (s.get("allowPrivilegeEscalation") is False, c["name"] + ": allowPrivilegeEscalation: false"),
            (s.get("readOnlyRootFilesystem") is True, c["name"] + ": readOnlyRootFilesystem"),
            (s.get("capabilities", {}).get("drop") == ["ALL"], c["name"] + ": no capabilities"),
            ("--insecure" not in c["command"], c["name"] + ": keys"),
        ]
    return [f"{name}: {what}" for ok, what in wants if not ok]


def check(path):
    wrong = []
    for name, whole, pod in pods(path):
        wrong += restricted(name, pod)
        claims = [{"name": c["metadata"]["name"]} for c in whole["spec"].get("volumeClaimTemplates", [])]
        volumes = {v["name"] for v in pod.get("volumes", []) + claims}
        for c in pod["containers"]:
            wrong += [f"{name}: no volume {m['name']}" for m in c.get("volumeMounts", []) if m["name"] not in volumes]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                http = c.get(probe, {}).get("httpGet") or c.get(probe, {}).get("tcpSocket")
                if http and http["port"] not in [p["name"] for p in c.get("ports", [])]:
                    wrong.append(f"{name}: {probe}: no port {http['port']}")
            if whole["kind"] != "Job" and not any(k in c for k in ("livenessProbe", "readinessProbe")):
                wrong.append(f"{name}: {c['name']}: no probe")
        labels = whole["spec"].get("selector", {}).get("matchLabels", {}).items()
        if not labels <= whole["spec"]["template"]["metadata"]["labels"].items():
            wrong.append(f"{name}: selects other pods than its own")
    return wrong


def rules(path, other):
    ours = [d["spec"]["groups"] for d in documents(path) if d["kind"] == "PrometheusRule"]
    return [] if ours == [documents(other)[0]["groups"]] else ["the groups of rules differ"]


def secret(path, name, folder):
    for d in documents(path):
        if d["metadata"]["name"] == name:
            for key, text in d["data"].items():
                with open(os.path.join(folder, key), "wb") as f:
                    f.write(base64.b64decode(text))
            return []
    return [f"no secret {name}"]


def command(path, kind, container):
    for _, whole, pod in pods(path):
        for c in pod["containers"]:
            if whole["kind"] == kind and c["name"] == container:
                words = [f"{v['name']}={v['value']}" for v in c.get("env", []) if "value" in v] + c["command"]
                sys.stdout.write("".join(w + "\0" for w in words))
                return []
    return [f"no {kind} with {container}"]


if __name__ == "__main__":
    wrong = {"check": check, "rules": rules, "secret": secret, "command": command}[sys.argv[1]](*sys.argv[2:])
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(bool(wrong))
