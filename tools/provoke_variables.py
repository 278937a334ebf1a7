"""Set variables to values that their readers do not take, run real programs without a GPU, and keep the output.

    python3 tools/provoke_variables.py LAB OUT.jsonl [ENVIRONMENT or ENVIRONMENT-PROGRAM…]

LAB is a folder of Python environments `env-NAME`, made with uv from `variable_cases.ENVIRONMENTS`. Every program of
`variable_cases.PROGRAMS` runs once as it is and once per row of `variable_cases.CASES`; what differs from the plain run
is kept. One JSON line per case: {"id", "environment", "set", "rc", "plain", "outcome", "log"}, where the outcome is
"refused" (the program ended otherwise than the plain run), "warned" (it printed a line that names the variable or its
value) or "silent".
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from variable_cases import CASES, PROGRAMS, VariableCase

FIRST, LAST, SECONDS = 30, 40, 300
MOST = 400
"""Letters of a line that are kept."""
NAMELESS = (
    (r"/\S*?/env-[\w]+\b", "/home/user/venv"),
    (r"[\w./-]*/\.pyenv/versions/([\d.]+)", r"/opt/python-\1"),
    (r"/tmp/tmp\w+", "/home/user/project"),
    (r"(?<![\w.-])/root\b", "/home/user"),
)
_CHANGES = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?")


def main() -> int:
    """Run the table; 0 when every plain run succeeded."""
    lab, out, names = Path(sys.argv[1]).absolute(), Path(sys.argv[2]), set(sys.argv[3:])
    done = {json.loads(line)["id"] for line in out.read_text().splitlines()} if out.exists() else set()
    there = {folder.name.removeprefix("env-") for folder in lab.glob("env-*")}
    wanted = [c for c in CASES if not names or {c.environment, f"{c.environment}-{c.program}"} & names]
    cases = [c for c in wanted if c.id not in done and c.environment in there]
    plain = {key: run(lab, key[0], key[1], {}) for key in sorted({(c.environment, c.program) for c in cases})}
    for (environment, program), (code, said) in plain.items():
        print(f"plain {environment} {program}: {code}{said[-300:] if code else ''}", file=sys.stderr)
    with out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(1) as pool:
        for case, (code, said) in zip(
            cases, pool.map(lambda c: run(lab, c.environment, c.program, c.variables), cases), strict=True
        ):
            row = kept(case, plain[case.environment, case.program], code, said)
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            print(f"{row['outcome']:8} {case.id}: {code}", file=sys.stderr)
    return int(any(code for code, _ in plain.values()))


def run(lab: Path, environment: str, program: str, variables: dict[str, str]) -> tuple[int, str]:
    """Exit code and output of one program under these variables and few others."""
    python = lab / f"env-{environment}" / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(PROGRAMS[program])
        base = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
        try:
            done = subprocess.run(
                [str(python), str(script)], env={**base, **variables}, capture_output=True, timeout=SECONDS,
                cwd=folder, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode("utf-8", "replace")
    return done.returncode, nameless((done.stderr + done.stdout).decode("utf-8", "replace"))


def kept(case: VariableCase, plain: tuple[int, str], code: int, said: str) -> dict[str, object]:
    """What one run tells beside the plain one."""
    known = {_CHANGES.sub("", line) for line in plain[1].splitlines()}
    fresh = [line for line in said.splitlines() if _CHANGES.sub("", line) not in known]
    words = [w for pair in case.variables.items() for w in pair if len(w) > 2]
    told = any(word.lower() in line.lower() for line in fresh for word in words)
    outcome = "refused" if code != plain[0] else "warned" if told else "changed" if fresh else "silent"
    lines = said.splitlines()
    cut = lines if len(lines) <= FIRST + LAST else [*lines[:FIRST], "…", *lines[-LAST:]]
    log = "\n".join(line[:MOST] for line in cut) if outcome != "silent" else ""
    row = {"id": case.id, "environment": case.environment, "set": case.variables, "rc": code, "plain": plain[0]}
    return {**row, "outcome": outcome, "log": log}


def nameless(text: str) -> str:
    """Without what it tells of the machine."""
    for pattern, instead in NAMELESS:
        text = re.sub(pattern, instead, text)
    return text


if __name__ == "__main__":
    os.nice(10)
    sys.exit(main())
