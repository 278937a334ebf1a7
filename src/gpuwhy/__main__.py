"""`python -m gpuwhy` and the console script: answer `--version` at once, hand everything else to the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from gpuwhy._version import __version__

        print(f"gpuwhy {__version__}")
        return
    from gpuwhy.cli import main as cli_main

    cli_main(sys.argv[1:])


if __name__ == "__main__":
    main()
