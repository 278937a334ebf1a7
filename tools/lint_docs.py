"""Write docs/lint.md from the catalogue of rules; `--check` exits 1 where it differs."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuwhy.lint.rules import Example, gone, rules

PAGE = Path(__file__).resolve().parent.parent / "docs" / "lint.md"
HEAD = """# The rules of gpuwhy lint

Written by `python tools/lint_docs.py` from `src/gpuwhy/lint/rules.toml`; `gpuwhy lint --explain RULE` prints one.
[commands/lint.md](commands/lint.md) says how to call lint and which files it reads. *Fired* is how often version 0's
rule did so on 4,205 files of 1,013 public repositories; below three the precision of a rule is not known.

| rule | severity | fired | |
| --- | --- | --- | --- |
"""


def wanted() -> str:
    """The page."""
    found = rules().values()
    rows = [f"| [{r.id}](#{r.id}) | {r.severity} | {r.fired or '–'} | {r.title} |" for r in found]
    parts = [HEAD + "\n".join(rows)]
    for rule in found:
        body = f"## {rule.id}\n\n{rule.why}\n\n{_shown(rule.bad[0])}\n\n*Source*: {rule.source}"
        parts.append(body)
    given_up: dict[str, list[str]] = {}
    for name, why in gone().items():
        given_up.setdefault(why, []).append(f"`{name}`")
    lines = [f"- {why}: {', '.join(sorted(names))}" for why, names in given_up.items()]
    parts.append("## Given up\n\nStill accepted in ignore lists, with a note.\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _shown(one: Example) -> str:
    options = "".join(f" with `--{name} {value}`" for name, value in one.options.items())
    blocks = [f"`{path}`{options}:\n\n```\n{text}```" for path, text in one.files.items()]
    return "\n\n".join(blocks)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != wanted())
    PAGE.write_text(wanted(), encoding="utf-8")
