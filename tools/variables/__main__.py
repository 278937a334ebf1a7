"""`python -m tools.variables [FAMILY …]`: read the package index and write knowledge/data/variables.json."""

from __future__ import annotations

import argparse
import re
import struct
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from isal import isal_zlib
from packaging.version import Version

from tools.harvest import index
from tools.harvest.journal import default_folder
from tools.harvest.tags import Tagged, is_stable, parse
from tools.harvest.web import Web, WebError
from tools.harvest.wheel import BrokenWheel, Wheel
from tools.variables.binary_reads import names
from tools.variables.families import FAMILIES, NEWEST, SKIPPED, Family
from tools.variables.kept import Kept
from tools.variables.neighbours import sources
from tools.variables.python_reads import Read, reads
from tools.variables.rows import write

DATA = Path(__file__).parents[2] / "src" / "gpuwhy" / "knowledge" / "data" / "variables.json"
MAY_READ = re.compile(
    rb"environ\b|getenv|readenv|env_name|_env\(|env_(?:str|bool|int|opt|class|nvidia)|(?:state|flag|DEFINE\w*|define\w*)\(\s*(?:name=)?[\"']jax_"
)
"""Sources without any of these are not worth parsing."""
PARTS = ("python", "libraries", "heavy")
FAILURES = (WebError, BrokenWheel, KeyError, ValueError, struct.error, zlib.error, isal_zlib.error)


def main() -> int:
    """Plan, read, write; 1 when some wheel could not be read."""
    options = _options()
    web, kept = Web(8), Kept(options.state)
    chosen = [f for f in FAMILIES if not options.families or f.name in options.families]
    found = [(family, wheel) for family in chosen for wheel in wheels(web, family)]
    plan = [(family, wheel, part) for part in PARTS for family, wheel in found if has(family, wheel, part)]
    failed: list[str] = []

    def one(job: tuple[Family, Tagged, str]) -> None:
        family, tagged, part = job
        if kept.has(tagged.file.sha256, part):
            return
        try:
            found = read(web, tagged.file.url, family, part)
        except FAILURES as error:
            failed.append(f"{tagged.file.name}: {type(error).__name__}: {error}")
            return
        kept.put(family.name, tagged, part, found)
        print(f"{tagged.file.name}: {len(found)} variables, {part}", file=sys.stderr)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, plan))
    for failure in failed:
        print(f"not read: {failure}", file=sys.stderr)
    write(options.data, kept)
    print(f"{web.requests} requests, {web.received / 1e6:,.0f} MB, {len(failed)} not read", file=sys.stderr)
    return int(bool(failed))


def wheels(web: Web, family: Family) -> list[Tagged]:
    """The wheel that stands for each release: of Linux on x86-64 where there are several."""
    files = index.files(web, index.address(), family.project) or []
    found = [t for f in files if (t := parse(f, family.project)) and is_stable(t.version)]
    found = [t for t in found if t.platform in ("linux-x86_64", "any")]
    newest = max((Version(t.version) for t in found), default=None)
    wanted = {str(newest) if one == NEWEST else one for one in family.releases}
    best: dict[str, Tagged] = {}
    for tagged in found:
        if tagged.version in wanted:
            best[tagged.version] = max(best.get(tagged.version, tagged), tagged, key=lambda t: t.order)
    for missing in sorted(wanted - set(best)):
        print(f"{family.project} {missing}: no wheel", file=sys.stderr)
    return sorted(best.values(), key=lambda t: Version(t.version))


def has(family: Family, wheel: Tagged, part: str) -> bool:
    """Whether this part of a wheel is read."""
    if part == "heavy":
        newest = NEWEST in family.heavy_releases and wheel.version not in family.releases
        return bool(family.heavy) and (newest or wheel.version in family.heavy_releases)
    return family.python if part == "python" else bool(family.libraries)


def read(web: Web, url: str, family: Family, part: str) -> dict[str, list[object]]:
    """Name → [type, default, values, member] of every variable that a part of the wheel's code reads."""
    wheel, out = Wheel(web, url), {}
    members = [m for m in wheel.members.values() if not SKIPPED.search(m.name)]
    if part == "python":
        for member, data in sources(web, url, wheel.size, (m for m in members if m.name.endswith(".py"))):
            if MAY_READ.search(data):
                for one in parsed(member, data):
                    merge(out, one, member)
        return out
    wanted = re.compile(rf"(?:^|/)(?:{family.heavy if part == 'heavy' else family.libraries})$")
    for library in (m.name for m in members if wanted.search(m.name)):
        for name in sorted(names(wheel.stream(library), family.prefixes)):
            merge(out, Read(name), library)
    return out


def parsed(member: str, data: bytes) -> list[Read]:
    """The reads of one source; what cannot be parsed is said: run this with the newest Python."""
    try:
        return reads(data.decode("utf-8", "replace"))
    except (SyntaxError, ValueError, RecursionError) as error:
        print(f"not parsed: {member}: {error}", file=sys.stderr)
        return []


def merge(out: dict[str, list[object]], one: Read, member: str) -> None:
    """The first place that shows a type, a default or values tells them."""
    row = out.setdefault(one.name, ["", None, [], member])
    row[0] = row[0] or one.type
    row[1] = one.default if row[1] is None else row[1]
    row[2] = row[2] or list(one.values)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.variables", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(f.name for f in FAMILIES)}")
    parser.add_argument("--jobs", type=int, default=3, help="wheels read at once")
    parser.add_argument("--state", type=Path, default=default_folder(), help="folder of what was read before")
    parser.add_argument("--data", type=Path, default=DATA, help="the file that is written")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
