"""Write src/gpuwhy/knowledge/data/standard_names.json: the names that Python's own modules have in every release.

python tools/standard_names.py PYTHON PYTHON…    interpreters of several releases, from the oldest to the newest

Each interpreter imports the modules of `knowledge.modules.STANDARD_MODULES` and lists their names; kept are the public
ones that all have. A name that only some releases have says nothing of a file in the module's place.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from gpuwhy.knowledge.modules import STANDARD_MODULES

TARGET = Path(__file__).resolve().parent.parent / "src" / "gpuwhy" / "knowledge" / "data" / "standard_names.json"
ASK = """
import importlib, json, sys
out = {}
for name in json.load(sys.stdin):
    try:
        out[name] = [n for n in dir(importlib.import_module(name)) if not n.startswith("_")]
    except Exception:
        pass
json.dump(out, sys.stdout)
"""


def names(python: str) -> dict[str, list[str]]:
    """What one interpreter's modules have."""
    asked = json.dumps(sorted(STANDARD_MODULES))
    done = subprocess.run([python, "-I", "-c", ASK], input=asked, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main(pythons: list[str]) -> None:
    """Keep what all of them have."""
    found = [names(python) for python in pythons]
    common = {name: sorted(set.intersection(*(set(one[name]) for one in found))) for name in sorted(STANDARD_MODULES)
              if all(name in one for one in found)}  # fmt: skip
    TARGET.write_text(json.dumps({k: " ".join(v) for k, v in common.items() if v}, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
