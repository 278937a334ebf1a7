"""What stands behind the first `--`: the program of a `run` or a `prove`, the launcher of a `fleet`."""

from __future__ import annotations


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what follows the first `--` of a `run`, a `prove` or a `fleet`."""
    if argv[:1] not in (["run"], ["prove"], ["fleet"]) or "--" not in argv:
        return argv, []
    place = argv.index("--")
    return argv[:place], argv[place + 1 :]
