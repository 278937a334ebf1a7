"""Kills: `fix --apply` ended by SIGKILL at a random moment, with uv and with pip, in a copy and in place; no network.

    python -m fuzz.kills [N] [--seed S]

N kills of each of the four (13). Stand-in wheels in a local folder are the index. After each kill: is the environment
that was not to be touched as it was, is a half-made copy marked, does any process live on, and does the same command,
given again, leave what it promised (in place: else the list of what was there before)? Linux, with uv.
"""

from __future__ import annotations

import argparse
import ensurepip
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.repair import wheels

UNFINISHED = "gpuwhy-unfinished"


class World:
    """An index, a damaged environment to copy, and the command that mends it."""

    def __init__(self, folder: Path, installer: str, in_place: bool) -> None:
        self.folder, self.in_place = folder, in_place
        links = wheels.index(folder / "links")
        for pip in (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"):
            shutil.copy(pip, links)
        self.environ = {**wheels.variables(folder, links), "KILLS": str(folder)}
        self.start = wheels.environment(
            folder / "start", self.environ, "nvidia-cudnn-cu12", "tiny==1.0", *(["pip"] if installer == "pip" else [])
        )
        wheels.damage(self.start)
        self.wanted = {one for one in wheels.releases(self.start) if not one.startswith("pip-")}
        self.more = ["--apply", "--yes", "--installer", installer, *(["--in-place"] if in_place else [])]

    def fresh(self) -> Path:
        """A damaged environment, and nothing beside it."""
        for old in self.folder.glob("env*"):
            shutil.rmtree(old)
        return Path(shutil.copytree(self.start, self.folder / "env", symlinks=True))

    def argv(self, env: Path) -> list[str]:
        """The command."""
        return [sys.executable, "-I", "-m", "gpuwhy", "fix", "--python", str(env), *self.more]

    def whole(self, env: Path) -> bool:
        """Whether an environment has every release and the library as it should be."""
        try:
            library = (wheels.site(env) / wheels.CUDNN).read_bytes()
        except (OSError, StopIteration):
            return False
        return library == wheels.LIBRARY and self.wanted <= wheels.releases(env)

    def call(self, argv: list[str]) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return subprocess.run(
            argv, env=self.environ, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL
        )

    def killed(self, env: Path, seconds: float) -> bool:
        """Start the command and kill it after a while; whether it was still there."""
        with subprocess.Popen(
            self.argv(env), env=self.environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as ours:  # fmt: skip
            try:
                ours.wait(seconds)
            except subprocess.TimeoutExpired:
                ours.send_signal(signal.SIGKILL)
        return ours.returncode == -signal.SIGKILL

    def alive(self, seconds: float = 5.0) -> int:
        """How many processes of ours live on after a while."""
        until = time.monotonic() + seconds
        while (found := self._alive()) and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def _alive(self) -> int:
        mark, found = f"KILLS={self.folder}".encode(), 0
        for place in Path("/proc").glob("[0-9]*/environ"):
            try:
                found += mark in place.read_bytes().split(b"\0")
            except OSError:
                continue
        return found


def attempt(world: World, seconds: float) -> list[str]:
    """What is to be said of one kill."""
    env = world.fresh()
    before = _tree(env)
    said = ["killed" if world.killed(env, seconds) else "ended before"]
    said += ["PROCESS LEFT"] if world.alive() else []
    return said + (_in_place(world, env, before) if world.in_place else _copy(world, env, before))


def _copy(world: World, env: Path, before: dict[str, bytes]) -> list[str]:
    """The original is as it was, a copy is whole or marked, and the next call makes one that is whole."""
    said = ["original intact" if _tree(env) == before else "ORIGINAL CHANGED"]
    for made in world.folder.glob("env-*"):
        marked = (made / UNFINISHED).exists()
        said.append("copy marked" if marked else "copy whole" if world.whole(made) else "COPY HALF-MADE, NOT MARKED")
    world.call(world.argv(env))
    whole = [made for made in world.folder.glob("env-*") if world.whole(made) and not (made / UNFINISHED).exists()]
    return [*said, "whole after the next call" if whole else "NOT WHOLE AFTER THE NEXT CALL"]


def _in_place(world: World, env: Path, before: dict[str, bytes]) -> list[str]:
    """The next call mends it, or the list of what was there does."""
    same = {name: data for name, data in _tree(env).items() if "gpuwhy-before" not in name} == before
    said = ["whole at once" if world.whole(env) else "as it was" if same else "in between"]
    world.call(world.argv(env))
    if world.whole(env):
        return [*said, "whole after the next call"]
    for undo in sorted(env.glob("gpuwhy-before-*.txt"))[:1]:
        world.call([wheels.UV, "pip", "install", "--python", f"{env}/bin/python", "--reinstall", "-r", str(undo)])
    return [*said, "whole by the list" if world.whole(env) else "NOT WHOLE"]


def _tree(env: Path) -> dict[str, bytes]:
    return {name: data for name, data in wheels.tree(env).items() if "__pycache__" not in name}


def campaign(installer: str, in_place: bool, count: int, rng: random.Random) -> Counter[str]:
    """So many kills, spread over the time that the command takes."""
    with tempfile.TemporaryDirectory() as place:
        world = World(Path(place), installer, in_place)
        start = time.monotonic()
        done = world.call(world.argv(world.fresh()))
        whole = time.monotonic() - start
        if done.returncode:
            raise SystemExit(f"fix --apply fails without a kill:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        found: Counter[str] = Counter()
        for _ in range(count):
            found.update(attempt(world, rng.uniform(0.05, 1.1) * whole))
    return found


def main() -> int:
    """Print a row for each of the four; 1 where anything is in capitals."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("count", nargs="?", type=int, default=13)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--in-place", action="store_true", help="not in copies")
    options = parser.parse_args()
    rng, bad = random.Random(options.seed), 0
    os.chdir("/")
    for installer in ("uv", "pip"):
        for in_place in (True,) if options.in_place else (False, True):
            found = campaign(installer, in_place, options.count, rng)
            bad += sum(number for word, number in found.items() if word.isupper())
            row = ", ".join(f"{word} {number}" for word, number in sorted(found.items()))
            print(f"{installer:<4}{'in place' if in_place else 'a copy':<9} {options.count} tries: {row}", flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
