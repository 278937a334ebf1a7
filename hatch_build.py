"""Wheels carry data compressed, causes, messages and programs as one file, and schemas."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SCHEMAS = ("report", "plan", "fit", "lint", "inspect", "releases", "code", "cause", "proof")
"""Those of docs/ that `gpuwhy mcp` shows its clients."""
DATA = "src/gpuwhy/knowledge/data"
COMPILED = "src/gpuwhy/causes/compiled.msgpack"


class Compress(BuildHookInterface):  # type: ignore[type-arg]
    """Adds NAME.gz for each file; pyproject.toml leaves the plain ones out of wheels."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each build."""
        compiled = self._compiled()
        if version == "editable":
            Path(self.root, COMPILED).write_bytes(compiled)
            return
        self._folder = tempfile.TemporaryDirectory()
        catalogue = Path(self._folder.name, "compiled.msgpack")
        catalogue.write_bytes(compiled)
        build_data["force_include"][str(catalogue)] = COMPILED.removeprefix("src/")
        for name in SCHEMAS:
            file = Path(self.root, "docs", f"{name}.schema.json")
            build_data["force_include"][str(file)] = f"gpuwhy/mcp/schemas/{file.name}"
        root = Path(self.root, DATA)
        for path in sorted(one for one in root.rglob("*") if one.is_file()):
            inside = path.relative_to(root).as_posix()
            packed = Path(self._folder.name, inside + ".gz")
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            os.chmod(packed, 0o644)
            build_data["force_include"][str(packed)] = f"gpuwhy/knowledge/data/{inside}.gz"

    def _compiled(self) -> bytes:
        """Causes, messages and programs, checked and in one file."""
        source = str(Path(self.root, "src"))
        sys.path.insert(0, source)
        try:
            from gpuwhy.causes.load import compiled

            return compiled(Path(source, "gpuwhy"))
        finally:
            sys.path.remove(source)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after each build."""
        if version != "editable":
            self._folder.cleanup()
