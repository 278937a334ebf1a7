"""Which kind of thing a path is, and who inspects it."""

from __future__ import annotations

import re

from gpuwhy.host.base import Host
from gpuwhy.inspection.bundle import inspect_folder, inspect_wheel
from gpuwhy.inspection.file import inspect_file
from gpuwhy.inspection.windows import inspect_pe
from gpuwhy.model.fact import Fact, Known, known
from gpuwhy.model.inspected import Inspected

_WINDOWS = re.compile(r"\.(dll|pyd|exe|sys)$", re.IGNORECASE)


def inspect_path(host: Host, path: str, folder: str) -> Fact[Inspected]:
    """Inspect a file, a wheel or a folder of libraries; `folder` is the current one."""
    stat = host.stat(path)
    if not isinstance(stat, Known):
        return stat
    if stat.value.kind == "folder":
        return inspect_folder(host, path, folder)
    if path.endswith(".whl"):
        return inspect_wheel(host, path, folder)
    named = _WINDOWS.search(path) is not None
    if not named and isinstance(host.elf(path), Known):
        return inspect_file(host, path, folder)
    pe = host.pe(path)
    if isinstance(pe, Known):
        return known(inspect_pe(host, path, folder, pe.value, stat.value.size), "file", path)
    return pe if named else inspect_file(host, path, folder)
