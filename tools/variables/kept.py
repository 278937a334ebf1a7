"""What was read of each wheel, appended as it comes, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.harvest.tags import Tagged

VERSION = 3
"""Of the readers: what another version read is read again."""


class Kept:
    """A JSON-lines file, one line per wheel and part of it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path, self._lock = folder / "variables.jsonl", threading.Lock()
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                except ValueError:  # the torn last line of an interrupted run
                    continue
                if row.get("version_of_reader") == VERSION:
                    self._rows[row["sha256"], row["part"]] = row

    def has(self, sha256: str, part: str) -> bool:
        """Whether this part of this wheel was read."""
        return (sha256, part) in self._rows

    def put(self, family: str, wheel: Tagged, part: str, found: dict[str, Any]) -> None:
        """Keep what one part of a wheel holds."""
        of = {"family": family, "release": wheel.version, "file": wheel.file.name, "sha256": wheel.file.sha256}
        row = {"version_of_reader": VERSION, **of, "part": part, "found": found}
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            self._rows[wheel.file.sha256, part] = row
            file.write(json.dumps(row, separators=(",", ":")) + "\n")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Everything that was read."""
        return iter(self._rows.values())
