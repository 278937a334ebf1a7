"""Reaching: runs the child that tries a rendezvous, with a limit."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from gpuwhy.border.child import Limits, collect

_CHILDREN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "host", "children")
CHILD = os.path.join(_CHILDREN, "reach.py")
COLLECTIVE = os.path.join(_CHILDREN, "collective.py")
"""Runs with the job's Python, not ours."""


def reach(role: str, host: str, port: int, seconds: float) -> dict[str, Any]:
    """What the child tells; one that did not end says so."""
    argv = [sys.executable, "-I", "-S", CHILD, role, host, str(port), f"{seconds:g}"]
    end = collect(argv, Limits(seconds + 15.0), os.environ)
    try:
        told = json.loads(end.out)
    except ValueError:
        told = None
    if isinstance(told, dict):
        return told
    return {"role": role, "to": f"{host}:{port}", "ok": False, "stage": "start", "error": "child", "text": end.words}
