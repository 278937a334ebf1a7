"""Kills: `fix --apply` ended by SIGKILL at a random moment, in a copy and in place; no network.

    python -m fuzz.kills [N] [--seed S]

N kills of each (13). After each kill: is the environment that was not to be touched as it was, is
a copy that is not whole marked, does any process live on, and does the same command, given again,
leave what it promised? In place: does it, or the list of what was installed? Linux, with pip.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fix.world import World, numpy

MARK = "gpuwhy-unfinished"
FIXED = "numpy-1.26.4"


def world(folder: Path) -> World:
    """An environment with a fault, and an index with what fixes it and what was there."""
    made = World(folder)
    made.environ["KILLS"] = str(folder)
    for version in ("1.26.4", "2.2.6"):
        made.wheel("numpy", version, numpy(version))
    shutil.copytree(made.env, folder / "start", symlinks=True)
    return made


def attempt(made: World, in_place: bool, seconds: float) -> list[str]:
    """What is to be said of one kill."""
    for old in (made.env, Path(f"{made.env}-gpuwhy")):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(made.folder / "start", made.env, symlinks=True)
    before = made.tree()
    words = ("--apply", "--yes", *(["--in-place"] if in_place else []))
    call = subprocess.Popen(
        made.argv(*words),
        env=made.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        call.wait(seconds)
        said = ["ended before"]
    except subprocess.TimeoutExpired:
        call.kill()
        call.wait()
        said = ["killed"]
    said += ["PROCESS LEFT"] if left(made.folder) else []
    return said + (after_in_place(made, words) if in_place else after_copy(made, words, before))


def after_copy(made: World, words: tuple[str, ...], before: dict[str, bytes]) -> list[str]:
    """The original is as it was, and the next call makes a copy that is whole."""
    said = ["original intact" if made.tree() == before else "ORIGINAL CHANGED"]
    copy = Path(f"{made.env}-gpuwhy")
    if copy.exists():
        whole = not (copy / MARK).exists()
        good = whole and FIXED in made.releases(copy)
        said.append("copy whole" if good else "COPY NOT MARKED" if whole else "copy marked")
    if copy.exists() and not (copy / MARK).exists():
        return said
    done = made.fix(*words)
    good = done.returncode == 0 and FIXED in made.releases(copy) and not (copy / MARK).exists()
    return [*said, "whole after the next call" if good else "NOT WHOLE AFTER THE NEXT CALL"]


def after_in_place(made: World, words: tuple[str, ...]) -> list[str]:
    """The next call fixes it, or the list of what was there brings it back."""
    made.fix(*words)
    if FIXED in made.releases():
        return ["whole after the next call"]
    for kept in sorted(made.env.glob("gpuwhy-before-*.txt"))[:1]:
        python = str(made.env / "bin/python")
        argv = [python, "-m", "pip", "install", "--no-deps", "--force-reinstall", "-r", str(kept)]
        pip = [sys.executable, "-m", "pip", "--python", python, *argv[3:]]
        subprocess.run(pip, env=made.environ, capture_output=True)
    names = made.releases()
    return ["whole by the list" if "numpy-2.2.6" in names else f"NOT WHOLE {names}".upper()]


def left(folder: Path, seconds: float = 5.0) -> bool:
    """Whether a process of the call lives on after a while."""
    until, mark = time.monotonic() + seconds, f"KILLS={folder}".encode()
    while time.monotonic() < until:
        found = 0
        for place in Path("/proc").glob("[0-9]*/environ"):
            try:
                found += mark in place.read_bytes().split(b"\0")
            except OSError:
                continue
        if not found:
            return False
        time.sleep(0.05)
    return True


def main() -> int:
    """Print a row for each; 1 where anything is in capitals."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("count", nargs="?", type=int, default=13)
    parser.add_argument("--seed", type=int, default=19)
    options = parser.parse_args()
    rng, bad = random.Random(options.seed), 0
    for in_place in (False, True):
        with tempfile.TemporaryDirectory() as place:
            made = world(Path(place))
            begun = time.monotonic()
            attempt(made, in_place, 120.0)
            whole = time.monotonic() - begun
            found: Counter[str] = Counter()
            for _ in range(options.count):
                found.update(attempt(made, in_place, rng.uniform(0.05, 1.1) * whole))
        bad += sum(number for word, number in found.items() if word.isupper())
        row = ", ".join(f"{word} {number}" for word, number in sorted(found.items()))
        print(f"{'in place' if in_place else 'a copy':<9}{options.count} tries: {row}", flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
