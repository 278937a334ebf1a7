"""`python -m gpuwhy` and the console script: a start that nothing of the environment can steer.

Until `_isolate` has run, a `typing.py` or `types.py` that PYTHONPATH names stands in for Python's
own: nothing is imported before but what Python has loaded by then.
"""

from __future__ import annotations

import sys

STEERING = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT")
LOADER = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT")
KEPT = "GPUWHY_KEPT_"


def _isolate() -> None:
    """Start again in isolated mode where PYTHONPATH or the folder could load into us."""
    import os

    if sys.flags.isolated or not sys.executable or os.name == "nt":
        return
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    steered = any(os.environ.get(name) for name in STEERING)
    if not steered and "" not in sys.path and sys.path[:1] != [folder]:
        return
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    put = f"{root!r} in sys.path or sys.path.insert(0, {root!r})"
    code = f"import sys; {put}; from gpuwhy.__main__ import main; main()"
    at_once = sys.stdout is not None and getattr(sys.stdout, "write_through", False)
    options = ["-I", *(["-u"] if at_once else []), "-c", code]
    try:
        os.execv(sys.executable, [sys.executable, *options, *sys.argv[1:]])
    except OSError:
        return


def _unload() -> None:
    """Start again without the loader's variables where Python's own modules do not load with them.

    They are put back at once: what we observe and start has them; only our own libraries are
    found without.
    """
    import contextlib
    import os

    kept = {name: os.environ.pop(KEPT + name) for name in LOADER if KEPT + name in os.environ}
    os.environ.update(kept)
    steered = {name: os.environ[name] for name in LOADER if os.environ.get(name)}
    if kept or not steered:
        return
    for name in ("_ctypes", "_hashlib", "zlib"):
        try:
            __import__(name)
        except ModuleNotFoundError:  # this Python was built without it
            continue
        except ImportError:
            break
    else:
        return
    environ = {name: value for name, value in os.environ.items() if name not in LOADER}
    environ.update({KEPT + name: value for name, value in steered.items()})
    with contextlib.suppress(OSError):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environ)


def _encode() -> None:
    """Isolated mode is deaf to PYTHONIOENCODING, which a user may have set for our output."""
    import contextlib
    import os

    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    for stream in (sys.stdin, sys.stdout, sys.stderr) if encoding and sys.flags.isolated else ():
        with contextlib.suppress(LookupError, AttributeError, ValueError):
            stream.reconfigure(encoding=encoding, errors=errors or stream.errors)  # type: ignore


def main() -> None:
    """Run the command line and leave with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # at once, without anything of ours
        from gpuwhy._version import __version__

        try:
            print(f"gpuwhy {__version__}", flush=True)
            return
        except OSError:
            pass  # below it is said why
    _isolate()
    _unload()
    _encode()
    from gpuwhy.cli import main as cli_main

    cli_main(sys.argv[1:])


if __name__ == "__main__":
    main()
