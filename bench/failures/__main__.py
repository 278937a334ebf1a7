"""Which tool names the cause of a GPU failure, and a remedy that helps? One table.

    python -m bench.failures                    # our own provoked outputs, and innocent texts
    python -m bench.failures --fetch FOLDER     # fetch the public threads of labels.jsonl (network)
    python -m bench.failures --threads FOLDER   # score what was fetched, too
    python -m bench.failures --tool NAME …      # some rows of tools.toml only

README.md beside this file says what the columns mean and how another tool is entered.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from bench.failures.threads import fetch

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
OWN = HERE.parent.parent / "tests" / "log" / "labelled"
SURE, LIMIT = 0.9, 60
NOT_GPU = "other.not_gpu"


class Case(NamedTuple):
    """A text with what is right to say of it; `fair` is empty where nothing may be blamed."""

    id: str
    log: str
    fair: frozenset[str]
    innocent: bool = False
    accept: tuple[str, ...] = ()
    harm: tuple[str, ...] = ()


class Said(NamedTuple):
    """What a tool said: causes with confidences, remedies, and how long it took."""

    causes: tuple[tuple[str, float], ...]
    remedies: tuple[str, ...]
    lines: int
    seconds: float


def rows(path: Path) -> list[dict[str, Any]]:
    """JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def provoked() -> Iterator[Case]:
    """What programs printed that we broke on purpose."""
    for path in sorted((OWN / "captured").glob("*.jsonl")):
        for row in rows(path):
            fair = {row["cause"], *row.get("also", ())} - {"", "healthy"}
            if fair:
                yield Case(row["id"], row["log"], frozenset(fair))


def innocent() -> Iterator[Case]:
    """Texts in which the GPU stack did nothing wrong."""
    for path in sorted((OWN / "innocent").glob("*.jsonl")):
        for row in rows(path):
            if row["log"].strip():
                yield Case(row["name"], row["log"], frozenset(row.get("fair", ())), innocent=True)


def threads(folder: Path) -> Iterator[Case]:
    """The labelled threads whose text is in a folder."""
    for row in rows(HERE / "labels.jsonl"):
        path = folder / f"{row['id']}.txt"
        if path.is_file():
            log = path.read_text(encoding="utf-8", errors="replace")
            fair = frozenset((row["cause"], *row["also"]))
            yield Case(row["id"], log, fair, False, tuple(row["accept"]), tuple(row["harm"]))


def teller(tool: dict[str, Any]) -> Callable[[str], Said]:
    """The function that asks a tool of tools.toml about a text."""
    if "rules" in tool:
        table = (HERE / tool["rules"]).read_text(encoding="utf-8").splitlines()
        rules = [line.split("\t") for line in table if line and line[0] != "#"]
        return lambda log: _by_rules(rules, log)
    return lambda log: _by_command(tool, log)


def _by_rules(rules: Sequence[Sequence[str]], log: str) -> Said:
    """The first rule that matches."""
    start = time.perf_counter()
    found = [(cause, 0.5) for cause, rule in rules if re.search(rule, log, re.IGNORECASE)]
    return Said(tuple(found[:1]), (), 1, time.perf_counter() - start)


def _by_command(tool: dict[str, Any], log: str) -> Said:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "failed.log"
        file.write_text(log, encoding="utf-8", errors="surrogatepass")
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        command = [word.replace("{file}", str(file)) for word in tool["run"]]
        command[0] = shutil.which(command[0], path=path) or sys.exit(f"{command[0]} is not installed")
        start = time.perf_counter()
        try:
            out = subprocess.run(command, input=log.encode(), capture_output=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return Said((), (), 0, LIMIT)
        took, text = time.perf_counter() - start, out.stdout.decode("utf-8", "replace")
    if tool["reads"] == "text":
        says = [
            (cause, 0.5)
            for cause, words in tool["says"].items()
            if re.search(words, text, re.IGNORECASE)
        ]
        return Said(tuple(says), (text,), _lines(text), took)
    try:
        answer = json.loads(text)
    except ValueError:
        return Said((), (), 0, took)
    causes = answer.get("causes", ())
    fixes = causes[0].get("fixes", ()) if causes else ()
    said = tuple(f"{one.get('text', '')}\n{one.get('command') or ''}" for one in fixes)
    named = tuple((one["id"], one.get("confidence", 0.5)) for one in causes)
    return Said(named, said, 0, took)


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def _any(patterns: Sequence[str], text: str) -> bool:
    return any(re.search(one, text, re.IGNORECASE | re.DOTALL) for one in patterns)


def _share(of: Sequence[bool]) -> str:
    return f"{sum(of)}/{len(of)}" if of else "–"


def scored(name: str, cases: Sequence[Case], ask: Callable[[str], Said]) -> list[str]:
    """One row of the table."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: ask(case.log), cases))
    both = list(zip(cases, answers, strict=True))
    failing = [(case, said) for case, said in both if not case.innocent]
    right = [bool(s.causes) and s.causes[0][0] in case.fair for case, s in failing]
    pairs = zip(failing, right, strict=True)
    sure = [ok for (_, s), ok in pairs if s.causes and s.causes[0][1] >= SURE]
    judged = [(case, s) for case, s in failing if case.accept]
    usable = [bool(s.remedies) and _any(case.accept, s.remedies[0]) for case, s in judged]
    harm = [any(_any(case.harm, one) for one in s.remedies[:2]) for case, s in judged]
    accused = [
        bool(s.causes) and s.causes[0][1] >= 0.5 and s.causes[0][0] not in {NOT_GPU, *case.fair}
        for case, s in both
        if case.innocent
    ]
    seconds = sorted(s.seconds for s in answers)[len(answers) // 2] if answers else 0
    shares = [_share(one) for one in (right, sure, usable, harm, accused)]
    return [name, *shares, f"{seconds:.2f} s"]


HEAD = ("tool", "cause", "sure and right", "first remedy", "harm", "accused", "median time")


def main() -> None:
    """Ask every tool about every text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fetch", type=Path)
    parser.add_argument("--threads", type=Path)
    parser.add_argument("--tool", action="append", default=[])
    parser.add_argument("--few", type=int, default=0, help="so many texts of each kind only")
    asked = parser.parse_args()
    if asked.fetch:
        fetch(rows(HERE / "labels.jsonl"), asked.fetch)
        return
    few = slice(asked.few or None)
    cases = [*list(provoked())[few], *list(innocent())[few]]
    cases += list(threads(asked.threads))[few] if asked.threads else []
    tools = tomllib.loads((HERE / "tools.toml").read_text(encoding="utf-8"))["tool"]
    print("| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD))
    for tool in tools:
        if not asked.tool or tool["name"] in asked.tool:
            print("| " + " | ".join(scored(tool["name"], cases, teller(tool))) + " |", flush=True)


if __name__ == "__main__":
    main()
