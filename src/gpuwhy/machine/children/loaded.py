"""Asks the system's own loader what it would load for a file: `loaded.py LOADER PATH`.

The loader maps the file and what it needs, lists them and ends (LD_TRACE_LOADED_OBJECTS): nothing
of the file is run. Prints {"name": …, "path": … or null} for each library, then {"code": …, "said":
its errors}; or {"refused": why} where LOADER is not the system's, since a file may name any program
as its loader. What is to steer the loader comes as ASKED_LD_LIBRARY_PATH and ASKED_LD_PRELOAD, so
that it does not steer this Python.
"""

import json
import os
import re
import resource
import stat
import subprocess
import sys

SECONDS = 6.0
LOADER = re.compile(r"ld(-linux.*|64|-[\d.]+)?\.so(\.\d+)?$")
FOLDERS = re.compile(r"/(usr/)?lib(32|64|x32)?/|/(nix|gnu)/store/")
PASSED_ON = (
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
)  # and no others: LD_AUDIT runs code, LD_WARN relocates
FOUND = re.compile(r"\t(?:(.*?) => )?(/.*) \(0x[0-9a-f]+\)$")
MISSING = re.compile(r"\t(.*) => not found$")


def refused(loader):
    """Why a file is not run as a loader; nothing where it may be."""
    real = os.path.realpath(loader)
    try:
        found = os.stat(real)
    except OSError as error:
        return "%s: %s" % (loader, error.strerror)
    if (
        not LOADER.match(os.path.basename(real))
        or not FOLDERS.match(real)
        or not stat.S_ISREG(found.st_mode)
    ):
        return "%s is not a loader of this system" % loader
    if found.st_uid == os.getuid() != 0 or stat.S_IMODE(found.st_mode) & 0o002:
        return "%s can be written by others than root" % loader
    return ""


def trace(loader, path):
    """The loader's code (None: it did not end), output and errors."""
    environ = {
        name: os.environ["ASKED_" + name] for name in PASSED_ON if "ASKED_" + name in os.environ
    }
    environ["LD_TRACE_LOADED_OBJECTS"] = "1"
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    child = subprocess.Popen(
        [loader, path],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        return None, "", ""
    return child.returncode, os.fsdecode(out), os.fsdecode(err)


def main(loader, path):
    """Ask, and print what it lists."""
    why = refused(loader)
    if why:
        print(json.dumps({"refused": why}))
        return
    code, out, err = trace(loader, path)
    for line in out.split("\n"):
        found, missing = FOUND.match(line), MISSING.match(line)
        if found:
            print(json.dumps({"name": found.group(1) or found.group(2), "path": found.group(2)}))
        elif missing:
            print(json.dumps({"name": missing.group(1), "path": None}))
    print(json.dumps({"code": code, "said": err.strip()[-4000:]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
