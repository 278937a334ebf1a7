"""`gpuwhy inspect PATH`: what a binary, wheel or environment needs, for which GPUs, and what would be loaded."""

from __future__ import annotations

import argparse
import contextlib
import os
import posixpath
import re

from gpuwhy.cli import FOUND, HEALTHY, UsageError, forms, refused
from gpuwhy.cli.terminal import paper, write


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("inspect", help="which libraries a program, wheel or environment needs, and gets")
    parser.add_argument(
        "path", nargs="?", default="", metavar="PATH",
        help="a shared library, a program, a wheel, an image, a folder, an environment (default: the active one)",
    )  # fmt: skip
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="as if this variable were set; repeatable"
    )
    parser.add_argument(
        "--root", metavar="PLACE", help="PATH lies in another machine's files: a folder, an OCI layout or an archive"
    )
    parser.add_argument(
        "--probe", action="store_true", help="also ask the system's own loader (ld.so), and show any difference"
    )
    parser.add_argument("--json", action="store_true", help="as JSON (gpuwhy.inspect/1)")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="every library, and every folder that was searched"
    )
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Inspect and print."""
    forms.ready(options)
    from gpuwhy import app
    from gpuwhy.cli.progress import Progress

    if options.root and options.probe:
        raise UsageError("--probe asks this machine's loader; it does not go with --root")
    options.path = options.path or _active(options)
    if not options.root and _is_image(options.path):
        return _as_check(options)
    path = below(options.path) if options.root else os.path.abspath(os.path.expanduser(options.path))
    with refused(app.UnreadableError, "--root "):
        host = app.inspect_host(dict(os.environ), given(options.env), options.root or "", options.json)
    with refused(app.UnreadableError), Progress() as progress:
        found = app.inspect(host, path, "/" if options.root else os.getcwd(), progress.note, options.probe)
    if forms.asked(options) and forms.shown(options, found):
        return HEALTHY if found.sound else FOUND
    if options.json:
        from gpuwhy.render.inspect_json import render as as_json

        write(as_json(found))
    else:
        from gpuwhy.render.inspect_terminal import render as as_text

        write(as_text(found, paper(), options.verbose))
    return HEALTHY if found.sound else FOUND


def _is_image(path: str) -> bool:
    """An archive that docker or another engine saved, or a folder in the OCI's layout."""
    if os.path.isdir(path):
        return os.path.exists(os.path.join(path, "oci-layout"))
    if not os.path.isfile(path):  # a pipe or a device is never opened
        return False
    from gpuwhy.border import reading

    with contextlib.suppress(OSError), reading.source(path) as file:
        head = file.read(512)  # not tarfile's own question: it reads zeros to their end
        return head[257:262] == b"ustar" or head.startswith(_PACKED)
    return False


_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
"""How gzip, bzip2, xz and Zstandard begin; `check --root` says what such a file holds."""


def _as_check(options: argparse.Namespace) -> int:
    """A whole image is a machine, not a file: `gpuwhy check --root` looks at it."""
    from gpuwhy.cli.parser import parsed

    if forms.asked(options) or options.env or options.probe:
        raise UsageError(f"{options.path} is an image: of inspect's options only --json and -v go with one")
    asked = [word for word, wanted in (("--json", options.json), ("-v", options.verbose)) if wanted]
    check = parsed(["check", "--root", options.path, *asked])
    code: int = check.go(check)
    return code


def _active(options: argparse.Namespace) -> str:
    """The environment that `gpuwhy check` would look at."""
    if options.root:
        raise UsageError("inspect what? With --root a PATH in it is needed")
    from gpuwhy import app

    host = app.inspect_host(dict(os.environ), given(options.env), plain=True)
    prefix = app.active_environment(host)
    if not prefix:
        raise UsageError("inspect what? No Python environment is active here; name a PATH")
    return prefix


def below(path: str) -> str:
    """A path inside another machine's files: from its top, or from a drive of Windows."""
    return path.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]", path) else posixpath.join("/", path)


def given(texts: list[str]) -> dict[str, str]:
    """The variables of --env NAME=VALUE."""
    out = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--env {text}: not NAME=VALUE")
        out[name] = value
    return out
