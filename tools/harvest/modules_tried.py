"""Modules tried: whether what modules_gone.json calls gone is gone in an installed newest release, too.

    python -m tools.harvest.modules_tried FOLDER [NAME …]     # FOLDER: environments are made below it, and removed

Some packages put modules in their place when they are imported, or search further folders. A module that is found so is
struck from the table, as is one whose name the package above it has for something else; so is a package that cannot be
installed or imported here, for of that nothing is proven. What uv reads (UV_CONSTRAINT, UV_FIND_LINKS) may keep large
neighbours small.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from gpuwhy.knowledge.modules import IMPORTED_AS
from tools.harvest.modules_gone import OUT, save

PYTHON = "3.11"
_CHILD = """
import importlib, importlib.util, json, sys
import warnings; warnings.simplefilter("ignore")
root, names = sys.argv[1], json.load(sys.stdin)
importlib.import_module(root)
out = []

def taken_from_above(name):
    above, _, leaf = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(above), leaf)
    except ModuleNotFoundError:
        return False
    except BaseException:
        return True

for name in names:
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        found = None if (error.name or "").partition(".")[0] == root else True
    except BaseException:
        found = True
    if found is None and name not in sys.modules and not taken_from_above(name):
        out.append(name)
json.dump(out, open(sys.argv[2], "w"))
"""


def main(folder: Path, named: list[str]) -> int:
    """Each package in an environment of its own; the table is written after each."""
    table = json.loads(OUT.read_text())["packages"]
    proven = folder / "proven.json"
    done: dict[str, dict[str, str]] = json.loads(proven.read_text()) if proven.exists() else {}
    for project in named or [one for one in table if one not in done]:
        lost = tried(folder, project, list(table[project]))
        done[project] = {name: table[project][name] for name in lost}
        proven.write_text(json.dumps(done))
        print(project, len(table[project]), "gone by the wheels,", len(lost), "proven", flush=True)
    save({name: rows for name, rows in sorted(done.items()) if rows})
    return 0


def tried(folder: Path, project: str, names: list[str]) -> list[str]:
    """The modules that an environment with the newest release does not find."""
    made, out = folder / project, folder / f"{project}.json"
    python = str(made / "bin/python")
    root = IMPORTED_AS.get(project, project.replace("-", "_"))
    steps = (["uv", "venv", "-q", "-p", PYTHON, str(made)], ["uv", "pip", "install", "-q", "-p", python, project])
    try:
        for step in steps:
            subprocess.run(step, check=True, capture_output=True, timeout=600)
        asked = json.dumps(names).encode()
        command = [python, "-c", _CHILD, root, str(out)]
        subprocess.run(command, check=True, input=asked, capture_output=True, timeout=300, cwd=folder)
        return list(json.loads(out.read_text()))
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        print(project, str(error)[:200], file=sys.stderr, flush=True)
        return []
    finally:
        shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
