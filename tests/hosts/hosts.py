"""Recorded hosts: real machines, and what differs from them.

A host file is a recording, or the difference from another one:
{"why": …, "truth": …, "expect": [cause ids], "base": "h200", "gone": ["regex over questions"…], "answers": {…}}.
`expect` is what `check` must show, certain or likely, in any order; [] = healthy. `truth` is what the machine itself
did (for provoked hosts: torch's own outcome). `gone` removes answers of the base, so that only this file's remain.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

from gpuwhy.app import Run
from gpuwhy.host.recorded import RecordedHost
from gpuwhy.host.recording import RecordingFile
from gpuwhy.observe.scene import Options

HERE = Path(__file__).parent
NAMES = sorted(p.name.split(".")[0] for p in (*HERE.glob("*.json"), *HERE.glob("*.json.gz")))
NAMES = [name for name in NAMES if not name.startswith("h200-probe-")]  # tests/probe/test_outcome.py


def described(name: str) -> dict[str, Any]:
    """A host file as it is written."""
    plain = HERE / f"{name}.json"
    text = plain.read_text() if plain.exists() else gzip.decompress((HERE / f"{name}.json.gz").read_bytes())
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def answers(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options and every answer of a host, its bases applied."""
    one = described(name)
    if "base" not in one:
        return one["options"], one["answers"]
    options, below = answers(one["base"])
    gone = [re.compile(pattern) for pattern in one.get("gone", [])]
    kept = {k: v for k, v in below.items() if not any(g.search(k) for g in gone)}
    return {**options, **one.get("options", {})}, {**kept, **one["answers"]}


def host(name: str) -> tuple[RecordedHost, Options]:
    """A replayed machine."""
    options, known = answers(name)
    recording = RecordingFile("gpuwhy.record/1", "0", options, known)
    return RecordedHost(recording), Options(**options)


def run(name: str) -> Run:
    """A diagnosis of a replayed machine."""
    return Run(*host(name))
