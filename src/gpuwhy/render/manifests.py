"""Manifests: what is installed once so that a scheduler asks gpuwhy by itself."""

from __future__ import annotations

import json
from typing import Any

NAMES = ("slurm-prolog", "nhc", "kubernetes-job", "kubernetes-daemonset", "node-problem-detector", "prometheus-timer")
_HOSTS = ("gpuwhy", "check", "--jsonl", "--exit-zero", "--node", "$(NODE_NAME)")


def manifest(name: str, image: str = "IMAGE-WITH-GPUWHY", gpus: int = 0) -> str:
    """One file, ready to be read over and put in place."""
    wanted = f" --expect-gpus {gpus}" if gpus else ""
    if name == "slurm-prolog":
        return _SLURM.format(wanted=wanted)
    if name == "nhc":
        return _NHC.format(wanted=wanted)
    if name == "kubernetes-job":
        return _yaml(_job(image, gpus))
    if name == "kubernetes-daemonset":
        return _yaml(_daemonset(image, gpus))
    if name == "node-problem-detector":
        return json.dumps(_npd(gpus), indent=2) + "\n"
    return _TIMER.format(wanted=wanted)


_NHC = """# nhc.conf: a node with a cause of its own goes offline, with the reason as its note
* || check_cmd_status -t 60 -r 0 gpuwhy check --health nhc{wanted}
"""

_SLURM = """#!/bin/sh
# Slurm: PrologFlags=Alloc,Contain and Prolog=this file. A code other than 0 drains the node and requeues the job;
# as Epilog= it drains the node after the job. Without an answer within a minute the job goes ahead.
reason=$(timeout 60 gpuwhy check --health slurm{wanted} 2>/dev/null)
code=$?
[ -n "$reason" ] && echo "$reason"
[ "$code" -eq 1 ] && exit 1
exit 0
"""

_TIMER = """#!/bin/sh
# cron or a systemd timer, every five minutes; node_exporter's textfile collector never sees half a file
folder=${{1:-/var/lib/node_exporter/textfile}}
timeout 60 gpuwhy check --health prometheus{wanted} > "$folder/.gpuwhy.$$"
[ -s "$folder/.gpuwhy.$$" ] && mv "$folder/.gpuwhy.$$" "$folder/gpuwhy.prom" || rm -f "$folder/.gpuwhy.$$"
"""


def _container(image: str, command: list[str], gpus: int) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "name": "check",
        "image": image,
        "command": command,
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi", **limits}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }


def _job(image: str, gpus: int) -> dict[str, Any]:
    """One pod a node: as many completions as nodes, spread over host names."""
    spread = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "gpuwhy"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    pod = {"restartPolicy": "Never", "affinity": spread, "containers": [_container(image, list(_HOSTS), gpus)]}
    spec = {
        "completions": 1,
        "parallelism": 1,
        "backoffLimit": 0,
        "activeDeadlineSeconds": 300,
        "ttlSecondsAfterFinished": 3600,
        "template": {"metadata": {"labels": {"app": "gpuwhy"}}, "spec": pod},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "gpuwhy", "labels": {"app": "gpuwhy"}},
        "spec": spec,
    }


def _daemonset(image: str, gpus: int) -> dict[str, Any]:
    """A pod on every GPU node that is ready as long as the node is; readiness asks gpuwhy itself."""
    asked = ["gpuwhy", "check", "--health", "kubernetes", *(["--expect-gpus", str(gpus)] if gpus else [])]
    container = _container(image, ["sh", "-c", 'gpuwhy check --jsonl --node "$NODE_NAME"; sleep infinity'], 0)
    container["readinessProbe"] = {
        "exec": {"command": asked},
        "initialDelaySeconds": 10,
        "periodSeconds": 300,
        "timeoutSeconds": 60,
        "failureThreshold": 2,
    }
    pod = {
        "containers": [container],
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }
    labels = {"app": "gpuwhy"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "gpuwhy", "labels": labels},
        "spec": spec,
    }


def _npd(gpus: int) -> dict[str, Any]:
    """node-problem-detector's custom plugin monitor: a condition of the node."""
    return {
        "plugin": "custom",
        "pluginConfig": {
            "invoke_interval": "5m",
            "timeout": "1m",
            "max_output_length": 80,
            "concurrency": 1,
            "enable_message_change_based_condition_update": False,
        },
        "source": "gpuwhy-monitor",
        "metricsReporting": True,
        "conditions": [{"type": "GPUProblem", "reason": "GPUStackWorks", "message": "the GPU stack works"}],
        "rules": [
            {
                "type": "permanent",
                "condition": "GPUProblem",
                "reason": "GPUStackBroken",
                "path": "/usr/local/bin/gpuwhy",
                "args": ["check", "--health", "npd", *(["--expect-gpus", str(gpus)] if gpus else [])],
                "timeout": "1m",
            }
        ],
    }


def _yaml(value: dict[str, Any]) -> str:
    """YAML that is JSON's own subset in its scalars: block style, every text quoted."""
    return "\n".join(_rows(value, 0)) + "\n"


def _rows(value: Any, depth: int) -> list[str]:
    pad = "  " * depth
    rows: list[str] = []
    pairs = value.items() if isinstance(value, dict) else ((None, one) for one in value)
    for key, one in pairs:
        head = f"{pad}{key}:" if key is not None else f"{pad}-"
        if isinstance(one, (dict, list)) and one:
            below = _rows(one, depth + 1)
            if key is None:
                below[0] = f"{pad}- {below[0].lstrip()}"
                rows += below
            else:
                rows += [head, *below]
        else:
            rows.append(f"{head} {json.dumps(one)}")
    return rows
