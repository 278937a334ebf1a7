"""`python -m tools.atlas [PACKAGE …]`: read messages from published files and write knowledge/data/atlas.bin."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuwhy.knowledge.atlas import labels
from tools.atlas.build import Book, write
from tools.atlas.crawl import Edition, Shelf, editions, of_this_python, read, rounds
from tools.atlas.packages import PACKAGES
from tools.harvest import index
from tools.harvest.journal import default_folder
from tools.harvest.web import Web

DATA = Path(__file__).parents[2] / "src" / "gpuwhy" / "knowledge" / "data" / "atlas.bin"


def main() -> int:
    """Read what has not been read, then build; 1 when some file could not be read."""
    options = _options()
    web, address, shelf = Web(32), index.address(), Shelf(options.state)
    chosen = [p for p in PACKAGES if not options.packages or p.name in options.packages]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda package: editions(web, address, package), chosen))
    named = {package.name: package for package in chosen}
    with ThreadPoolExecutor(options.jobs) as pool:
        ok = list(
            pool.map(lambda one: read(web, shelf, named[one.package], one), [] if options.build_only else rounds(found))
        )
    if not options.read_only:
        print(write(book(shelf, [one for some in found for one in some]), options.data), file=sys.stderr)
    return 0 if all(ok) else 1


def book(shelf: Shelf, ordered: list[Edition]) -> Book:
    """Everything that is on the shelf, oldest release first."""
    out = Book(frozenset(int(key, 16) for key in labels()))
    out.add("python", *of_this_python())
    for one in ordered:
        found = shelf.whole(one)
        if found is not None:
            out.add(one.package, one.version, found)
    return out


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.atlas", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(p.name for p in PACKAGES)}")
    parser.add_argument("--build-only", action="store_true", help="read nothing, build from the shelf")
    parser.add_argument("--read-only", action="store_true", help="fill the shelf, build nothing")
    parser.add_argument("--jobs", type=int, default=2, help="files read at once; a library may need 3 GB of memory")
    parser.add_argument("--state", type=Path, default=default_folder() / "messages", help="folder of what was read")
    parser.add_argument("--data", type=Path, default=DATA, help="the file to write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
