"""Journal: readings by file hash, appended as they come, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from tools.harvest.reading import Reading


class Journal:
    """A JSON-lines file; the last line of a file's hash counts."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "readings.jsonl"
        self._lock = threading.Lock()
        self._rows: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                row = _decoded(line)
                if row:
                    self._rows[row["sha256"]] = row

    def get(self, sha256: str, version: int) -> tuple[Reading, bool] | None:
        """The reading of a file and whether it is a deep one; None where this reader has not read it."""
        row = self._rows.get(sha256)
        if row is None or row["version"] != version:
            return None
        return Reading.from_json(row), row["deep"]

    def put(self, sha256: str, name: str, version: int, reading: Reading, deep: bool) -> None:
        """Keep a reading."""
        row = {"sha256": sha256, "file": name, "version": version, "deep": deep, **reading.as_json()}
        with self._lock:
            self._rows[sha256] = row
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
                file.flush()

    def seed(self, sha256: str, name: str, version: int, reading: Reading, deep: bool) -> None:
        """Take over a reading from the published data, where the journal knows no better."""
        known = self._rows.get(sha256)
        if known is None or known["version"] != version or (deep and not known["deep"]):
            self._rows[sha256] = {
                "sha256": sha256, "file": name, "version": version, "deep": deep, **reading.as_json(),
            }  # fmt: skip


def _decoded(line: str) -> dict[str, Any] | None:
    """A line; None for the torn last one of an interrupted run."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "sha256" in row else None


def default_folder() -> Path:
    """Where a user's caches are."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpuwhy-harvest"
