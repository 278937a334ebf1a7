"""gpuwhy in one file: unpacks itself once into the user's cache, then runs from there. Old Pythons get a sentence."""

# This file must be understood by every Python, so that the sentence below can be read.
import os
import sys

STAMP = "@STAMP@"
NEEDS = (3, 10)


def main():
    """Unpack where it is not unpacked yet, and start."""
    if sys.version_info < NEEDS:
        sys.exit(
            "gpuwhy runs on Python 3.10 or newer; this is %d.%d. The program under diagnosis may use any: "
            "python3.12 gpuwhy.pyz --python %s" % (sys.version_info[0], sys.version_info[1], sys.executable)
        )
    isolate()
    folder = unpacked()
    sys.path[0] = folder  # instead of this archive
    from gpuwhy.__main__ import main as start

    start()


def archive():
    """The file that we are."""
    return os.path.abspath(sys.path[0])


def isolate():
    """Start again where a variable of Python could load something else into us."""
    steered = any(os.environ.get(name) for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT"))
    if steered and not sys.flags.isolated and os.name != "nt" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-I", archive()] + sys.argv[1:])


def tag():
    """Which compiled parts are ours: cp312-linux-x86_64."""
    import sysconfig

    system = sysconfig.get_platform().replace("macosx-", "macosx").split("-")
    name = "macosx" if system[0].startswith("macosx") else system[0]
    free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return "cp%d%d%s-%s-%s" % (sys.version_info[0], sys.version_info[1], free, name, system[-1])


def unpacked():
    """The folder that holds us for this Python; made once, in one step, by its owner alone."""
    import tempfile

    mine = tag()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    owner = os.getuid() if hasattr(os, "getuid") else 0
    for base in (os.path.join(cache, "gpuwhy"), os.path.join(tempfile.gettempdir(), "gpuwhy-%d" % owner)):
        try:
            os.makedirs(base, 0o700, exist_ok=True)
            if not safe(base):
                continue
            folder = os.path.join(base, "%s-%s" % (STAMP, mine))
            if not os.path.isfile(os.path.join(folder, ".pyz")):
                unpack(folder, base, mine)
            return folder
        except OSError:
            continue
    sys.exit("gpuwhy: cannot unpack: neither ~/.cache nor %s can be written to" % tempfile.gettempdir())


def safe(folder):
    """Whether nobody but us can put something into a folder."""
    if not hasattr(os, "getuid"):
        return True
    found = os.stat(folder)
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def unpack(folder, base, mine):
    """All of us beside the place, then there in one step; another process may have been faster."""
    import shutil
    import tempfile
    import zipfile

    fresh = tempfile.mkdtemp(prefix=".new-", dir=base)
    try:
        with zipfile.ZipFile(archive()) as packed:
            names = packed.namelist()
            if not any(name.startswith("native/%s/" % mine) for name in names):
                sys.exit("gpuwhy: this file has no compiled part for %s: pip install gpuwhy instead" % mine)
            for name in names:
                for prefix in ("common/", "native/%s/" % mine):
                    if name.startswith(prefix) and not name.endswith("/"):
                        put(packed, name, os.path.join(fresh, *name[len(prefix) :].split("/")))
        with open(os.path.join(fresh, ".pyz"), "w") as file:
            file.write(STAMP)
        try:
            os.rename(fresh, folder)
        except OSError:
            if not os.path.isfile(os.path.join(folder, ".pyz")):
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def put(packed, name, path):
    """One member as a file."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with packed.open(name) as source, open(path, "wb") as target:
        target.write(source.read())


if __name__ == "__main__":
    main()
