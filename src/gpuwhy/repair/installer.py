"""Installer: uv where there is one, else venv and pip; the command lines, and nothing that they do themselves."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from gpuwhy.knowledge.caps import caps
from gpuwhy.model.repair import Action, name_of
from gpuwhy.repair.child import FailedError, run

Say = Callable[[str], None]

WHEELS = ["--only-binary", ":all:"]
"""What is copied is never compiled: that would run code for hours, and make something else than what is there."""


class Installer:
    """Makes environments and installs into them, by child processes."""

    def __init__(self, environ: Mapping[str, str], seconds: float, say: Say, uv: str | None = None) -> None:
        self._environ, self._seconds, self.say = environ, seconds, say
        self.dated: dict[str, str] = {}  # packages, and the day until which a release has to be published
        self.uv = shutil.which("uv", path=environ.get("PATH")) or "" if uv is None else uv

    def venv(self, python: str, folder: str, system_site: bool) -> None:
        """An empty environment of the same Python."""
        more = ["--system-site-packages"] if system_site else []
        if self.uv:
            self._run([self.uv, "venv", "--no-project", "--allow-existing", "--python", python, *more, folder])
        else:
            named = python if "/" in python else f"python{python}"  # a release: whatever PATH has of it
            self._run([named, "-m", "venv", *more, folder])

    def freeze(self, python: str, pins: Mapping[str, str], folder: str, backend: str) -> None:
        """Exactly these, and nothing that they ask for; the list is kept in the folder meanwhile."""
        if not self.uv and "pip" in pins:
            self._run([python, "-m", "pip", "install", pins["pip"]])
        plain = [text for text in pins.values() if not is_reference(text)]
        built = [text for text in pins.values() if is_reference(text)]
        for lines, flags in ((plain, WHEELS), (built, [])):
            if lines:
                with _listed(folder, lines) as name:
                    self.install(python, ["-r", name], Action(backend=backend), "--no-deps", *flags)

    def lock(
        self,
        python: str,
        wanted: Sequence[str],
        prefer: Mapping[str, str],
        folder: str,
        backend: str,
        aside: Iterable[str] = (),
    ) -> dict[str, str]:
        """One release of everything that is wanted and what it needs, the preferred ones where they fit; {} for none.

        What is `aside` counts as there, whoever asks for it. Raises FailedError where nothing could be asked.
        """
        limits = _limits([*wanted, *prefer.values()], prefer)
        with (
            _listed(folder, wanted) as asked,
            _listed(folder, prefer.values()) as found,
            _listed(folder, limits) as within,
            _listed(folder, [f"{name}; python_version < '0'" for name in aside]) as without,
        ):
            more = [f"--torch-backend={backend}"] if backend else []
            more += ["-c", within] if limits else []
            more += ["--override", without] if aside else []
            more += [] if any(map(is_reference, wanted)) else WHEELS
            more += _until(self.dated)
            argv = [self.uv, "pip", "compile", "-q", "--no-header", "--no-annotate", "--no-strip-extras"]
            try:
                self._run([*argv, "--python", python, *more, "-o", found, asked], quiet=True)
            except FailedError as error:
                lacks = error.kind == "lacks" and name_of(error.which) in prefer
                if lacks or error.kind in ("disk", "network", "closed"):
                    raise
                return {}
            with open(found, encoding="utf-8") as file:
                lines = [line.strip() for line in file if line.strip() and not line.startswith(("#", "--"))]
        return {_name(line, prefer): line for line in lines}

    def carry_out(
        self,
        python: str,
        action: Action,
        present: Iterable[str],
        exactly: bool = False,
        beside: Mapping[str, str] | None = None,
    ) -> None:
        """Remove what is there of what has to go, then install.

        `exactly` adds nothing that is asked for besides; what is `beside` stays where the releases let it.
        """
        gone = [name for name in action.uninstall if name in set(present)]
        if gone and self.uv:
            self._run([self.uv, "pip", "uninstall", "--python", python, *gone])
        elif gone:
            self._run([python, "-m", "pip", "uninstall", "-y", *gone])
        if action.install and beside and not action.again:
            self._beside(python, action, beside)
        elif action.install:
            self.install(python, action.install, action, *(["--no-deps"] if exactly else []))

    def _beside(self, python: str, action: Action, beside: Mapping[str, str]) -> None:
        """With everything else held where it is; where that contradicts what is wanted, without."""
        held = [text for text in beside.values() if not is_reference(text)]
        with _listed(_prefix(python), held) as name:
            try:
                self.install(python, action.install, action, "-c", name)
            except FailedError as error:
                if error.kind in ("disk", "network", "closed"):
                    raise
                self._without(python, action)

    def _without(self, python: str, action: Action) -> None:
        """The same whatever it moves; an index may not tell when a release was published, so then of any day."""
        try:
            self.install(python, action.install, action)
        except FailedError as error:
            if not action.until or error.kind in ("disk", "network", "closed"):
                raise
            self.install(python, action.install, replace(action, until=""))

    def rehearse(self, python: str, action: Action) -> None:
        """Whether what is to be installed exists and fits, asked before anything is removed; pip fetches it."""
        if action.install and self.uv:
            anew = [f"--reinstall-package={name}" for name in action.uninstall]
            self.install(python, action.install, action, "--dry-run", *anew)
        elif action.install:
            with tempfile.TemporaryDirectory(prefix="gpuwhy-", dir=_prefix(python)) as folder:
                self._run([python, "-m", "pip", "download", "--no-deps", "--dest", folder, *action.install])

    def install(self, python: str, wanted: Sequence[str], how: Action, *flags: str) -> None:
        """One call of the installer."""
        more = [*flags, *(["--upgrade"] if how.upgrade else [])]
        if how.backend and not self.uv:
            raise FailedError(
                f"the builds for {how.backend} are on PyTorch's own index, which uv finds by itself and pip does not: "
                "install uv, and begin again"
            )
        if self.uv:
            more += ["--reinstall", "--no-deps", "--no-cache"] if how.again else []
            more += [f"--torch-backend={how.backend}"] if how.backend else []
            more += _until({name_of(text): how.until for text in wanted if how.until})
            more += [
                f"--reinstall-package={name_of(text)}" for text in wanted if how.until
            ]  # no day is asked of what is there
            self._run([self.uv, "pip", "install", "--python", python, *more, *wanted])
        else:
            more += ["--force-reinstall", "--no-deps", "--no-cache-dir"] if how.again else []
            self._run([python, "-m", "pip", "install", *more, *wanted])

    def _run(self, argv: list[str], quiet: bool = False) -> None:
        self.say("$ " + " ".join(os.path.basename(argv[0]) if n == 0 else word for n, word in enumerate(argv)))
        run(argv, self._environ, self._seconds, -1 if quiet else 2)


def _name(line: str, prefer: Mapping[str, str]) -> str:
    """The distribution of a line; an editable folder's is the one that asked for that folder."""
    return next((name for name, text in prefer.items() if text == line), "") or name_of(line.removeprefix("-e "))


def _until(days: Mapping[str, str]) -> list[str]:
    """Nothing of these packages that was published after a day."""
    return [f"--exclude-newer-package={name}={day}" for name, day in days.items()]


def is_reference(text: str) -> bool:
    """Whether a requirement names a place: a folder, a repository, a file."""
    return " @ " in text or text.startswith("-e")


def _prefix(python: str) -> str:
    """The environment of an interpreter: what is kept there meanwhile goes with it."""
    return os.path.dirname(os.path.dirname(python))


def _limits(wanted: Iterable[str], there: Mapping[str, str]) -> list[str]:
    """What releases need of packages that are not there yet, and do not state."""
    rows = [row for text in wanted if "==" in text for row in caps(name_of(text), text.partition("==")[2])]
    return list(dict.fromkeys(row.requirement for row in rows if name_of(row.requirement) not in there))


@contextlib.contextmanager
def _listed(folder: str, lines: Iterable[str]) -> Iterator[str]:
    """A list of requirements inside the folder that is being made, so that nothing is left elsewhere."""
    handle, name = tempfile.mkstemp(".txt", "gpuwhy-", folder)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in lines)
        yield name
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
