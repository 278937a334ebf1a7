"""`gpuwhy inspect PATH`: what a binary, wheel or environment needs, for which GPUs, and gets."""

from __future__ import annotations

import argparse
import os
import posixpath
import re
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, UsageError, forms, refused

if TYPE_CHECKING:
    from gpuwhy.machine.machine import Machine

_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
"""How gzip, bzip2, xz and Zstandard begin; `check --root` says what such a file holds."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "inspect", help="which libraries a program, wheel or environment needs, and gets"
    )
    kinds = "a shared library, a program, a wheel, an image, a folder, an environment"
    parser.add_argument(
        "path", nargs="?", default="", metavar="PATH", help=f"{kinds} (default: the active one)"
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="as if this variable were set; repeatable",
    )
    parser.add_argument(
        "--root",
        metavar="PLACE",
        help="PATH is in another machine's files: a folder, an OCI layout or an archive",
    )
    parser.add_argument(
        "--probe",
        action="store_true",
        help="also ask the system's own loader (ld.so), and show any difference",
    )
    parser.add_argument("--json", action="store_true", help="as JSON (gpuwhy.inspect/1)")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="every library, and every folder that was searched",
    )
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Inspect and print."""
    forms.ready(options)
    if options.root and options.probe:
        raise UsageError("--probe asks this machine's loader; it does not go with --root")
    if not options.root and _is_image(options.path):
        return _as_check(options)
    from gpuwhy.cli.output import put
    from gpuwhy.cli.progress import Progress
    from gpuwhy.facts.fact import Known, Unknown
    from gpuwhy.inspect.document import document
    from gpuwhy.inspect.inspect import inspect
    from gpuwhy.inspect.inspected import values

    with Progress() as progress:
        machine = _machine(options, given(options.env))
        path = _path(options, machine)
        folder = "/" if options.root else os.getcwd()
        found = inspect(machine, path, folder, options.probe, progress.note)
    if not isinstance(found, Known):
        unread = found.reason if isinstance(found, Unknown) else f"{path}: no such file or folder"
        raise UsageError(unread)
    detail = int(options.verbose or bool(options.html) or options.markdown)
    put(options, document(found.value, detail), values(found.value))
    return HEALTHY if found.value.sound else FOUND


def _machine(options: argparse.Namespace, variables: dict[str, str]) -> Machine:
    """This machine, or other files, under an environment in which some variables are given."""
    from gpuwhy.machine.recording import RecordingMachine

    if not options.root:
        from gpuwhy.machine.live import LiveMachine

        return RecordingMachine(LiveMachine({**os.environ, **variables}))
    from gpuwhy.machine.image import open_image
    from gpuwhy.machine.image_files import UnreadableImageError
    from gpuwhy.machine.windows_disk import folder_machine

    with refused(UnreadableImageError, "--root "):
        opened = open_image(options.root, "")
    if opened is None:
        return RecordingMachine(folder_machine(options.root, variables or None))
    opened.give(variables)
    return RecordingMachine(opened)


def _path(options: argparse.Namespace, machine: Machine) -> str:
    """What is to be inspected, as the machine names it."""
    if options.root and not options.path:
        raise UsageError("inspect what? With --root a PATH in it is needed")
    if options.root:
        return below(options.path)
    if options.path:
        path: str = os.path.abspath(os.path.expanduser(options.path))
        return path
    from gpuwhy.inspect.inspect import active_prefix

    prefix = active_prefix(machine)
    if not prefix:
        raise UsageError("inspect what? No Python environment is active here; name a PATH")
    return prefix


def _is_image(path: str) -> bool:
    """An archive that docker or another engine saved, or a folder in the OCI's layout."""
    if os.path.isdir(path):
        return os.path.exists(os.path.join(path, "oci-layout"))
    # a pipe or a device is never opened, nor a file of the kernel, which has no size
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(512)  # not tarfile's own question: it reads zeros to their end
    except OSError:
        return False
    return head[257:262] == b"ustar" or head.startswith(_PACKED)


def _as_check(options: argparse.Namespace) -> int:
    """A whole image is a machine, not a file: `gpuwhy check --root` looks at it."""
    from gpuwhy.cli.parser import parsed

    if options.env or options.probe:
        raise UsageError(f"{options.path} is an image: --env and --probe do not go with one")
    asked = [f"--{name}" for name in ("json", "markdown") if getattr(options, name)]
    asked += ["-v"] if options.verbose else []
    asked += ["--html", options.html] if options.html else []
    check = parsed(["check", "--root", options.path, *asked])
    code: int = check.go(check)
    return code


def below(path: str) -> str:
    """A path inside another machine's files: from its top, or from a drive of Windows."""
    if re.match(r"[A-Za-z]:[\\/]", path):
        return path.replace("\\", "/")
    return posixpath.join("/", path)


def given(texts: list[str]) -> dict[str, str]:
    """The variables of --env NAME=VALUE."""
    out = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--env {text}: not NAME=VALUE")
        out[name] = value
    return out
