"""`python -m tools.harvest [FAMILY …] [--deep]`: read the package index and write knowledge/data/releases."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tools.harvest.crawl import Crawl, plan
from tools.harvest.families import FAMILIES
from tools.harvest.journal import Journal, default_folder
from tools.harvest.rows import row, seed, source_rows, write, write_index
from tools.harvest.web import Web

DATA = Path(__file__).parents[2] / "src" / "gpuwhy" / "knowledge" / "data" / "releases"
GENERATOR = "1"
MOST_JOBS = 16


def main() -> int:
    """Plan, read, write; 1 when some file could not be read."""
    options = _options()
    chosen = [f for f in FAMILIES if not options.families or f.name in options.families]
    start, web, journal = time.monotonic(), Web(options.jobs), Journal(options.state)
    for family in chosen:
        seed(options.data / f"{family.name}.jsonl", family, journal)
    found = plan(web, chosen, options.jobs, options.pre)
    print(f"{len(found.releases)} releases × platforms in {time.monotonic() - start:.0f} s", file=sys.stderr)
    crawl = Crawl(web, journal, options.jobs)
    crawl.light(found.releases)
    if options.deep:
        crawl.deep(found.releases)
    for family in chosen:
        mine = [r for r in found.releases if r.family is family]
        rows = [one for r in mine if (one := row(r, journal))]
        wheels = {(r.tagged.project, r.tagged.version) for r in mine}
        for project in family.projects:
            rows += source_rows(project, found.sources[project], wheels, options.pre)
        missed = {(r.tagged.project, r.tagged.version, r.tagged.platform) for r in mine}
        count = write(options.data / f"{family.name}.jsonl", family, rows, missed, GENERATOR)
        print(f"{family.name}: {count} rows", file=sys.stderr)
    write_index(options.data)
    failures = [*found.failures, *crawl.failures]
    for failure in sorted(failures):
        print(f"not read: {failure.file}: {failure.why}", file=sys.stderr)
    seconds = time.monotonic() - start
    print(
        f"{web.requests} requests, {web.received / 1e6:,.0f} MB, {seconds:.0f} s, {len(failures)} not read",
        file=sys.stderr,
    )
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.harvest", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(f.name for f in FAMILIES)}")
    parser.add_argument("--deep", action="store_true", help="also read binaries: architectures, compiled versions")
    parser.add_argument("--pre", action="store_true", help="also pre-releases of what has been released since")
    parser.add_argument("--jobs", type=int, default=MOST_JOBS, help=f"files read at once, at most {MOST_JOBS}")
    parser.add_argument("--state", type=Path, default=default_folder(), help="folder of the journal")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the family files")
    options = parser.parse_args()
    options.jobs = max(1, min(options.jobs, MOST_JOBS))
    unknown = set(options.families) - {f.name for f in FAMILIES}
    if unknown:
        parser.error(f"no such family: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
