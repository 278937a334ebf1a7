"""Root: another machine's file system under a folder (a mounted disk, an unpacked image). Only files can be asked."""

from __future__ import annotations

import os
from typing import Any

from gpuwhy.host.alias import Alias
from gpuwhy.host.base import Host, Offline
from gpuwhy.host.files import Files
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown

FILES = frozenset(
    {
        "read",
        "lines",
        "list",
        "stat",
        "elf",
        "gpu_code",
        "cuda_version",
        "holds",
        "matching",
        "unmet",
        "ldcache",
        "sha256",
        "dpkg",
    }
    | {"versions", "wheel", "pe", "unwritten", "altered"}
)
MAX_LINKS = 40


class RootHost(Host):
    """Answers file questions from below `root`; links, absolute ones too, never lead out of it."""

    def __init__(self, root: str, environ: dict[str, str] | None = None, alias: Alias | None = None) -> None:
        self.root = os.path.realpath(root)
        self.alias = alias or Alias()
        self._environ = environ
        self._files = Files(self.alias, self._inside)

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Files are answered; a folder has no processes, devices or environment."""
        if op in FILES:
            answer: Fact[Any] = getattr(self._files, op)(*args)
            return answer
        if op == "environ" and self._environ is not None:
            return Known(self._environ, Source("env", "environment", "as given"))
        if op == "offline":
            return Known(Offline("folder", ""), Source("folder", "/"))
        if op == "link":
            return self._link(args[0])
        if op == "real":
            return self._real(args[0])
        return Unknown(f"{op}: a folder cannot be asked", "run gpuwhy on that machine", "offline")

    def _inside(self, path: str) -> str:
        return self.root + (self._walk(self.alias.path(path)) if path != "/" else "")

    def _walk(self, path: str, links: int = 0) -> str:
        """Resolve every link of an absolute path inside the root; the result starts with '/'."""
        done: list[str] = []
        parts = [p for p in reversed(path.split("/")) if p not in ("", ".")]
        while parts:
            part = parts.pop()
            if part == "..":
                os.stat("/".join([self.root, *done, "."]))  # as for the kernel, there is no way up from nothing
                del done[-1:]
                continue
            here = "/".join(["", *done, part])
            if os.path.islink(self.root + here):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(40, "too many levels of symbolic links", path)
                target = os.readlink(self.root + here)
                if target.startswith("/"):
                    done = []
                parts.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
            else:
                done.append(part)
        return "/" + "/".join(done)

    def _real(self, path: str) -> Fact[str]:
        try:
            found = self._walk(self.alias.path(path))
        except OSError as error:
            return Absent(Source("file", path)) if error.errno in (2, 20) else Unknown(f"{path}: {error.strerror}")
        if not os.path.lexists(self.root + found):
            return Absent(Source("file", path))
        return Known(self.alias.hide(found), Source("file", path))

    def _link(self, path: str) -> Fact[str]:
        folder, _, name = self.alias.path(path).rpartition("/")
        try:
            return Known(self.alias.hide(os.readlink(f"{self._inside(folder or '/')}/{name}")), Source("file", path))
        except ValueError as error:
            return Unknown(f"{path!r}: {error}")
        except OSError as error:
            return Absent(Source("file", path)) if error.errno in (2, 20, 22) else Unknown(f"{path}: {error.strerror}")
