"""The scripts in tools/, imported by path: they are no package."""

import importlib.util
from pathlib import Path
from types import ModuleType


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"gpuwhy_tool_{name}", Path(__file__).parents[2] / "tools" / f"{name}.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
