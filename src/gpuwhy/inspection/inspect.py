"""Which kind of thing a path is, and who inspects it."""

from __future__ import annotations

from gpuwhy.host.base import Host
from gpuwhy.inspection.bundle import inspect_folder, inspect_wheel
from gpuwhy.inspection.file import inspect_file
from gpuwhy.model.fact import Fact, Known
from gpuwhy.model.inspected import Inspected


def inspect_path(host: Host, path: str, folder: str) -> Fact[Inspected]:
    """Inspect a file, a wheel or a folder of libraries; `folder` is the current one."""
    stat = host.stat(path)
    if not isinstance(stat, Known):
        return stat
    if stat.value.kind == "folder":
        return inspect_folder(host, path, folder)
    return inspect_wheel(host, path, folder) if path.endswith(".whl") else inspect_file(host, path, folder)
