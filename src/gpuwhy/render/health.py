"""A node's health for schedulers: Slurm, NHC, node-problem-detector, Prometheus and Kubernetes, from the one report.

Only what concerns the whole node and is certain makes it unhealthy: a wrong environment of one user drains no node.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gpuwhy.border.plain import one_line
from gpuwhy.model.report import Report, Shown

Form = Literal["slurm", "nhc", "npd", "prometheus", "kubernetes"]
FORMS: tuple[Form, ...] = ("slurm", "nhc", "npd", "prometheus", "kubernetes")
OK, BAD, UNKNOWN = 0, 1, 2
"""The exit codes of node-problem-detector's plugins; Slurm and NHC ask for zero or not."""
NODE = ("driver.", "device.hardware", "container.no_gpu", "wsl.")
SURE = 0.9
LONGEST = 80
"""node-problem-detector cuts messages here."""


class Health(msgspec.Struct, frozen=True):
    """The verdict on a node: its code, and the reason in a line."""

    code: int
    reason: str
    causes: tuple[Shown, ...] = ()


def judged(report: Report, gpus: int | None = None, wanted: int = 0) -> Health:
    """Whether a job may run here; `wanted` GPUs are asked for, `gpus` were seen (None = nobody could look)."""
    bad = tuple(cause for cause in report.causes if _of_node(cause))
    if bad:
        return Health(BAD, f"{bad[0].id}: {bad[0].title}", bad)
    if wanted and gpus is not None and gpus < wanted:
        return Health(BAD, f"device.hardware: {gpus} of {wanted} GPUs are there")
    if wanted and gpus is None:
        return Health(UNKNOWN, "the GPUs could not be counted")
    return Health(OK, "no cause of the node's own found")


def _of_node(cause: Shown) -> bool:
    return cause.stops and cause.confidence >= SURE and not cause.with_gpu and cause.id.startswith(NODE)


def render(report: Report, health: Health, form: Form, gpus: int | None, now: float) -> str:
    """The text that a scheduler's own reader takes."""
    reason = one_line(health.reason)
    if form == "prometheus":
        return _prometheus(report, health, gpus, now)
    if form == "npd":
        return reason[:LONGEST] + "\n"
    if form == "nhc":
        return f"gpuwhy: {reason}\n" if health.code else ""
    if form == "kubernetes":
        return f"{'ready' if health.code == OK else 'not ready'}: {reason}\n"
    return f"print gpuwhy: {reason}\n" if health.code else ""  # Slurm's prolog: "print" goes to the job's output


_LABEL = re.compile(r'["\\\n]')


def _prometheus(report: Report, health: Health, gpus: int | None, now: float) -> str:
    rows = [
        *_metric("gpuwhy_healthy", "Whether the node can run GPU jobs.", [("", int(health.code == OK))]),
        *_metric(
            "gpuwhy_status",
            "The status of the node and its environment, one series a status.",
            [
                (f'{{status="{one}"}}', int(report.status == one))
                for one in ("healthy", "degraded", "broken", "unknown")
            ],
        ),
        *_metric(
            "gpuwhy_cause_confidence",
            "How sure gpuwhy is of each cause that it names.",
            [
                (f'{{id="{_escaped(one.id)}",subject="{_escaped(one.subject)}"}}', one.confidence)
                for one in report.causes
            ],
        ),
        *([] if gpus is None else _metric("gpuwhy_gpus", "GPUs that NVML counts.", [("", gpus)])),
        *_metric("gpuwhy_check_duration_seconds", "How long the look took.", [("", round(report.took, 3))]),
        *_metric("gpuwhy_check_timestamp_seconds", "When the node was looked at, Unix time.", [("", round(now, 3))]),
        *_metric("gpuwhy_info", "The release of gpuwhy.", [(f'{{version="{_escaped(report.gpuwhy)}"}}', 1)]),
    ]
    return "\n".join(rows) + "\n"


def _metric(name: str, text: str, series: list[tuple[str, float]]) -> list[str]:
    if not series:
        return []
    seen = dict(series)  # a series twice is an error to Prometheus
    return [
        f"# HELP {name} {text}",
        f"# TYPE {name} gauge",
        *(f"{name}{labels} {value}" for labels, value in seen.items()),
    ]


def _escaped(text: str) -> str:
    return _LABEL.sub(lambda found: {"\n": "\\n"}.get(found[0], "\\" + found[0]), one_line(text))
