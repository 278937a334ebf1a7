"""`gpuwhy inspect PATH`: what a binary, wheel or environment needs, for which GPUs, and gets."""

import argparse
import os
import posixpath
import re

from gpuwhy.cli import FOUND, HEALTHY, UsageError, output

_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
"""How gzip, bzip2, xz and Zstandard begin; `check --root` says what such a file holds."""


def go(options: argparse.Namespace) -> int:
    """Inspect and print."""
    path = os.path.abspath(os.path.expanduser(options.path)) if options.path else ""
    if options.root:
        if not path:
            raise UsageError("inspect what? With --root a PATH in it is needed")
        drive = re.match(r"[A-Za-z]:[\\/]", options.path)
        inside = posixpath.join("/", options.path)
        path = options.path.replace("\\", "/") if drive else inside
    elif is_image(path):
        return _as_check(options)
    for text in options.env:
        if not text.partition("=")[0] or "=" not in text:
            raise UsageError(f"--env {text}: not NAME=VALUE")
    from gpuwhy.cli.machine import opened
    from gpuwhy.cli.terminal import Progress
    from gpuwhy.facts.fact import Known, Unknown
    from gpuwhy.inspect.document import document
    from gpuwhy.inspect.inspect import active_prefix, inspect
    from gpuwhy.inspect.inspected import values
    from gpuwhy.machine.recording import RecordingMachine

    with Progress() as progress:
        variables = dict(text.split("=", 1) for text in options.env)
        machine = RecordingMachine(opened(options.root, variables=variables))
        path = path or active_prefix(machine)
        if not path:
            raise UsageError("inspect what? No Python environment is active here; name a PATH")
        folder = "/" if options.root else os.getcwd()
        found = inspect(machine, path, folder, progress.note)
    if not isinstance(found, Known):
        unread = found.reason if isinstance(found, Unknown) else f"{path}: no such file or folder"
        raise UsageError(unread)
    shown = document(found.value, min(output.detail(options), 1))
    output.put(options, shown, values(found.value))
    return HEALTHY if found.value.sound else FOUND


def is_image(path: str) -> bool:
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
    from gpuwhy.cli import check
    from gpuwhy.cli.parser import parsed

    asked = parsed(["check", "--root", options.path])
    for name in ("json", "markdown", "html", "verbose"):
        setattr(asked, name, getattr(options, name))
    return check.go(asked)
