"""Dump what users see, so that a change can be held beside what was there before it.

    python -m tools.dumps make BEFORE ../shared/corpus/*.jsonl     (more texts: JSON lines with a "log")
    … change something …
    python -m tools.dumps make AFTER ../shared/corpus/*.jsonl
    python -m tools.dumps diff BEFORE AFTER                        (exit 1 where they differ)

A dump is a folder with a JSON file per subject: question → what is printed. Times are left out.
`make --only explain,code` makes some of them; `diff --lines 0` names the questions alone.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
TESTS = ROOT / "tests"
_TOOK = re.compile(r'"took": ?[\d.e-]+')
_GRID = ("driver", "gpu", "python", "os", "arch", "glibc")
WIDTH = 100


def printed(*words: str) -> str:
    """What a command prints, its errors and exit code included."""
    from gpuwhy.cli import UsageError, _run

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code: object = _run(list(words))
        except UsageError as error:
            code = f"usage: {error}"
    return f"{out.getvalue()}[{code}]"


def shown(report: Any, text: Callable[..., str]) -> str:
    """A report in both forms."""
    from gpuwhy.render.json import render as as_json
    from gpuwhy.render.terminal import Paper

    return f"{text(report, Paper(WIDTH, False), True)}\n{as_json(report)}"


def texts(more: Iterable[Path]) -> dict[str, str]:
    """Every text at hand by a name: those of the tests, and the "log" of JSON lines that are named."""
    found: list[str] = []
    for file in sorted(TESTS.glob("symptoms/**/*.json")):
        found += _strings(json.loads(file.read_text(encoding="utf-8")))
    for file in [*sorted(TESTS.glob("symptoms/**/*.jsonl")), *more]:
        found += [json.loads(line)["log"] for line in file.read_text(encoding="utf-8").splitlines() if line]
    for file in sorted(TESTS.glob("rooms/*/*/*.json")):
        found += filter(None, [json.loads(file.read_text(encoding="utf-8")).get("log", "")])
    healthy = (TESTS / "symptoms" / "healthy.txt").read_text(encoding="utf-8")
    found += [part.partition("\n")[2] for part in healthy.split("=== ")[1:]]
    return {f"{hashlib.sha256(one.encode()).hexdigest()[:8]} {one.strip()[:60]}": one for one in found}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def explain(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy explain --log-only`, terminal and JSON, and `--batch`."""
    from gpuwhy.logs import batch, explain_text
    from gpuwhy.render.explained import render

    for name, text in texts(more).items():
        line = json.dumps({"id": "", "log": text}).encode()
        yield name, f"{shown(explain_text(text), render)}\n{json.dumps(list(batch([line])))}"


def check(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy check` on every recorded host."""
    from tests.hosts.hosts import NAMES, run

    from gpuwhy.render.terminal import render

    for name in NAMES:
        yield name, shown(run(name).report(), render)


def facts(more: list[Path]) -> Iterator[tuple[str, str]]:
    """The report on the facts of every cause's fixtures, and on every watched run of the tests."""
    from tests.rooms.facts import load, log_of

    from gpuwhy.after import told
    from gpuwhy.reason.report import report
    from gpuwhy.render.explained import render as explained
    from gpuwhy.render.terminal import render
    from gpuwhy.rooms import CAUSES

    for file in sorted(TESTS.glob("rooms/*/*/*.json")):
        yield str(file.relative_to(TESTS)), shown(report(CAUSES, load(file)[1], 0.0), render)
    for file in sorted(TESTS.glob("run/cases/*.json")):
        yield str(file.relative_to(TESTS)), shown(told(log_of(file), load(file)[1]), explained)


def code(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy code` for every name and number."""
    from gpuwhy.knowledge import codes

    asked = [name for one in codes.everything() for name in one.names]
    asked += [f"{one.api} {number.code}" for one in codes.everything() for number in one.numbers]
    for words in dict.fromkeys(asked):
        yield words, printed("code", *words.split()) + printed("code", "--json", *words.split())


def cause(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy cause`: the list, and every page."""
    from gpuwhy.rooms import CAUSES

    yield "", printed("cause")
    for one in CAUSES:
        yield one.id, printed("cause", one.id)


def releases(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy releases`: the list, what fits a machine, and every project's table."""
    from gpuwhy.knowledge import releases as known

    yield "", printed("releases")
    yield "fitting", printed("releases", "--works-with", "driver=535", "gpu=sm_89", "python=3.10")
    for name in known.projects():
        yield name, printed("releases", name)


def lint(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy lint` over the good files and the bad rows of its tests."""
    from tests.lint import test_rules

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, row in enumerate(getattr(test_rules, "BAD", ())):
            name = Path(str(number)) / row[1]
            name.parent.mkdir(parents=True)
            name.write_text(row[2], encoding="utf-8")
            yield f"{number} {row[0]}", printed("lint", str(name)) + printed("lint", "--json", str(name))
        os.chdir(TESTS / "lint" / "good")
        yield "good", printed("lint", ".")
        os.chdir(ROOT)


def plan(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy plan` over the tests' grid."""
    from tests.plan.grid import cells

    for cell in cells():
        machine = [word for name, value in zip(_GRID, cell[1:], strict=True) if value for word in (f"--{name}", value)]
        yield cell.name, printed("plan", *cell.wishes, *machine, "--all")


def fix(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy fix` on every recorded host: its steps, nothing carried out."""
    from tests.hosts.hosts import NAMES, run

    from gpuwhy.fixing import steps_of
    from gpuwhy.render.fix import render, render_json
    from gpuwhy.render.terminal import Paper

    for name in NAMES:
        steps = steps_of(run(name))
        yield name, f"{render(steps, None, Paper(WIDTH, False))}\n{render_json(steps, None)}"


_USES = (
    ("--gpu", "RTX 4090", "--json"),
    ("--train", "--batch", "4", "--gpu", "A100-80GB", "-v"),
    ("--train", "lora", "--gpu-memory", "12GB", "-v"),
)


def fit(more: list[Path]) -> Iterator[tuple[str, str]]:
    """`gpuwhy fit` over the model files and the configurations of its tests."""
    os.chdir(TESTS / "fit" / "readers" / "files")
    for name in sorted(os.listdir()):
        yield name, "".join(printed("fit", name, *use) for use in _USES)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for file in sorted((TESTS / "fit").glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                label, config, *_ = json.loads(line)
                Path("config.json").write_text(json.dumps(config), encoding="utf-8")
                yield f"{file.stem} {label}", "".join(printed("fit", "config.json", *use) for use in _USES)
        os.chdir(ROOT)


def page(more: list[Path]) -> Iterator[tuple[str, str]]:
    """The page and the Markdown of the report on every recorded host."""
    from tests.hosts.hosts import NAMES, run

    from gpuwhy.showing import html, markdown

    for name in NAMES:
        report = run(name).report()
        yield name, f"{html(report)}\n{markdown(report)}"


SUBJECTS = {one.__name__: one for one in (explain, check, facts, code, cause, releases, lint, plan, fix, fit, page)}


def make(folder: Path, only: list[str], more: list[Path]) -> None:
    """Write the dump."""
    os.environ["COLUMNS"] = str(WIDTH)
    folder.mkdir(parents=True, exist_ok=True)
    for name in only:
        started = time.monotonic()
        rows = {key: _TOOK.sub('"took": 0', text) for key, text in SUBJECTS[name](more)}
        (folder / f"{name}.json").write_text(json.dumps(rows, indent=0, ensure_ascii=False), encoding="utf-8")
        print(f"{name}: {len(rows)} in {time.monotonic() - started:.0f} s", flush=True)


def differences(before: Path, after: Path) -> Iterator[tuple[str, list[str]]]:
    """(subject and question, the lines of difference) for whatever is not the same in the subjects of both."""
    for file in sorted({one.name for one in before.glob("*.json")} & {one.name for one in after.glob("*.json")}):
        old, new = (json.loads((folder / file).read_text(encoding="utf-8")) for folder in (before, after))
        for key in sorted({*old, *new}):
            was, now = (str(rows.get(key, "")).splitlines() for rows in (old, new))
            if was != now:
                yield f"{file.removesuffix('.json')} · {key}", [*difflib.unified_diff(was, now, n=0, lineterm="")][2:]


def main(argv: list[str]) -> int:
    """Make a dump, or compare two."""
    parser = argparse.ArgumentParser(description="Dump what users see, and compare two dumps.")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("texts", type=Path, nargs="*")
    making.add_argument("--only", default=",".join(SUBJECTS))
    comparing = commands.add_parser("diff")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--lines", type=int, default=12, help="of each difference")
    options = parser.parse_args(argv)
    if options.command == "make":
        make(options.folder.resolve(), options.only.split(","), [one.resolve() for one in options.texts])
        return 0
    found = list(differences(options.before, options.after))
    for where, lines in found:
        print(f"== {where}", *lines[: options.lines], sep="\n")
    print(f"{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
