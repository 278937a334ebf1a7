"""Is the bill of materials complete: gpuwhy and all that it needs? `python -m tools.release.bom FILE`.

A CycloneDX file that an environment's reader made; exit code 1 where something that pyproject.toml names is missing.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def main(argv: list[str]) -> int:
    """Compare, and say what is missing."""
    found = components(json.loads(Path(argv[0]).read_text(encoding="utf-8")))
    missing = [name for name in needed() if not found.get(name)]
    for name in sorted(found):
        print(f"{name} {found[name]}")
    if missing:
        print(f"not in the bill: {', '.join(missing)}")
    return int(bool(missing))


def components(bill: dict[str, object]) -> dict[str, str]:
    """Names and versions in a bill."""
    assert bill["bomFormat"] == "CycloneDX"
    rows = bill.get("components")
    return {_plain(one["name"]): str(one.get("version", "")) for one in rows} if isinstance(rows, list) else {}


def needed() -> list[str]:
    """gpuwhy, and what it needs on every Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    always = [text for text in project["dependencies"] if ";" not in text]
    return ["gpuwhy", *(_plain(re.split(r"[\s<>=!~\[;]", text, maxsplit=1)[0]) for text in always)]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
