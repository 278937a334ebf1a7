"""`python -m gpuwhy.guard train.py args…`: runs a program as Python itself would, guarded."""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
from types import ModuleType, TracebackType
from typing import NoReturn

USAGE = """usage: python -m gpuwhy.guard SCRIPT [ARGUMENTS…]
       python -m gpuwhy.guard -m MODULE [ARGUMENTS…]

Runs the program as `python` would; a GPU error that ends it carries its diagnosis as a note.
"""


def main(argv: list[str]) -> None:
    """Run the program that the arguments name; what it raises goes on as if it ran alone."""
    if not argv or argv[0] in ("-h", "--help") or argv == ["-m"]:
        _leave(USAGE, 2 if not argv or argv == ["-m"] else 0)
    from gpuwhy.api import hooks

    hooks.install_in_threads()
    try:
        _program(argv)
    except SystemExit:
        raise
    except BaseException as error:
        if isinstance(error, Exception):
            from gpuwhy.api.note import annotate

            annotate(error)
        _hide_ourselves()
        raise


def _leave(text: str, code: int) -> NoReturn:
    print(text, end="", file=sys.stderr if code else sys.stdout)
    raise SystemExit(code)


def _program(argv: list[str]) -> None:
    """The frame below which everything is the program's own."""
    if argv[0] == "-m":
        sys.argv = ["-m", *argv[2:]]
        sys.modules["__main__"] = ModuleType("__main__")
        vars(runpy)["_run_module_as_main"](argv[1])
        return
    path = argv[0]
    sys.argv = argv
    if os.path.isdir(path) or (not path.endswith((".py", ".pyw")) and _is_archive(path)):
        runpy.run_path(path, run_name="__main__")
        return
    source = _source(path)
    full = os.path.abspath(path)
    names = _fresh_main(full)
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    exec(compile(source, full, "exec", dont_inherit=True), names)


def _is_archive(path: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(path)


def _source(path: str) -> bytes:
    try:
        with io.open_code(os.path.abspath(path)) as file:
            return file.read()
    except OSError as error:
        why = f"[Errno {error.errno}] {error.strerror}"
        _leave(f"{sys.executable}: can't open file {os.path.abspath(path)!r}: {why}\n", 2)


def _fresh_main(path: str) -> dict[str, object]:
    """The namespace of a new __main__, as Python makes it for a script."""
    from importlib.machinery import SourceFileLoader

    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__.update(
        __file__=path,
        __builtins__=builtins,
        __loader__=SourceFileLoader("__main__", path),
        __cached__=None,
    )
    if sys.version_info < (3, 14):
        main.__dict__.update(__annotations__={})
    return main.__dict__


def _hide_ourselves() -> None:
    """Let the interpreter print the traceback that the program alone would have had."""
    before = sys.excepthook

    def shown(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        own = _below(trace)
        BaseException.with_traceback(error, own)
        before(kind, error, own)

    sys.excepthook = shown


def _below(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback below our own frames."""
    step = trace
    while step is not None:
        if step.tb_frame.f_code is _program.__code__:
            return step.tb_next
        step = step.tb_next
    return trace
