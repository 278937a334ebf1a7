"""What an error of an import tells: a fault of what is installed, or that something outside is wanted (a display ...).

Run by the Python under diagnosis, as a part of importing.py. Standard library only, Python 3.5 and newer.
"""

import re

from importing_parts import TELLING  # beside this file

FAULTS = (
    "ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "TabError", "AttributeError", "NameError",
    "TypeError", "SystemError", "UnicodeDecodeError", "EOFError", "JSONDecodeError", "BadZipFile", "UnpicklingError",
    "EmptyFolder", "PackageNotFoundError", "DistributionNotFound", "VersionConflict", "ContextualVersionConflict",
)  # fmt: skip
"""Errors that code and files of an environment end in by themselves."""
BROKEN = re.compile(
    r"cannot open shared object file|invalid ELF|file too short|undefined symbol|null bytes|size changed|bad magic"
)
OUTSIDE = re.compile(
    r"display|\bX (server|connection)|wayland|\bxcb\b|connection (refused|reset|error)|timed? ?out|unreachable"
    r"|name resolution|Name or service|permission denied|read-only file system|no such device|not a tty|/dev/"
    r"|platform (is )?not supported|not supported on (this|linux)|only (works|supported|available) on|\blicen[cs]e\b"
    r"|api[_ ]?key|token|credential",
    re.IGNORECASE,
)
"""What is said where a display, a server, a device, another system or an account is wanted."""
ELSEWHERE = frozenset(
    "tkinter _tkinter turtle curses _curses readline winreg msvcrt _winapi nt fcntl win32api AppKit objc".split()
)
"""Modules that some systems and builds of Python lack on purpose."""


def outside(error):
    """Whether it wants something that no environment holds."""
    if (getattr(error, "name", None) or "").partition(".")[0] in ELSEWHERE:
        return True
    return isinstance(error, (SystemExit, KeyboardInterrupt)) or bool(OUTSIDE.search(str(error)))


def fault(error):
    """Whether it is one of what is installed."""
    kinds = [one.__name__ for one in type(error).__mro__]
    return any(one in FAULTS for one in kinds) or bool(BROKEN.search(str(error)) or TELLING.search(str(error)))


def sought(error):
    """The module that was not found before another was tried in its place: the first one that was meant."""
    name = ""
    while error is not None:
        lost = getattr(error, "name", None) if type(error).__name__ == "ModuleNotFoundError" else None
        name, error = lost or name, error.__cause__ or error.__context__
    return name
