"""Wheels carry the files of knowledge/data compressed; the same bytes for the same input."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = "src/gpuwhy/knowledge/data"


class Compress(BuildHookInterface):  # type: ignore[type-arg]
    """Adds NAME.gz for each file; pyproject.toml leaves the plain ones out of wheels."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each build."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self.root, DATA)
        for path in sorted(one for one in root.rglob("*") if one.is_file()):
            inside = path.relative_to(root).as_posix()
            packed = Path(self._folder.name, inside + ".gz")
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            os.chmod(packed, 0o644)
            build_data["force_include"][str(packed)] = f"gpuwhy/knowledge/data/{inside}.gz"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after each build."""
        if version != "editable":
            self._folder.cleanup()
