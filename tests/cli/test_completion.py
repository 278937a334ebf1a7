"""The option tables, and what shells that ask them offer on Tab."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.cli import UsageError, completion, parser, table

PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for shell in completion.SHELLS:
        (folder / f"gpuwhy.{shell}").write_text(completion.script(shell))
    (folder / "some.log").touch()
    return folder


WANTED = {
    "gpuwhy ch": "check",
    "gpuwhy explain --log-o": "--log-only",
    "gpuwhy cause cudnn.mis": "cudnn.missing",
    "gpuwhy releases tensorflow-g": "tensorflow-gpu",
    "gpuwhy fleet comp": "compare",
    "gpuwhy fleet compare --exclude slu": "slurm",
    "gpuwhy explain some.l": "some.log",
    "gpuwhy help pla": "plan",
}


@pytest.mark.parametrize("typed", WANTED)
def test_the_words_that_may_stand_at_the_cursor(typed):
    *before, now = typed.split()[1:]
    offered = [word for word, _ in completion.offered(before, now)]
    assert offered == ([] if WANTED[typed] == "some.log" else [WANTED[typed]])


def test_bash_asks_and_offers():
    ask = 'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpuwhy; echo "${COMPREPLY[*]}"; }'
    asks = "ask gpuwhy ch\nask gpuwhy fleet compare --exclude slu"
    argv = ["bash", "--norc", "-c", f"{completion.script('bash')}\n{ask}\n{asks}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, env={"PATH": PATH})
    assert (done.stderr, done.stdout) == ("", "check\nslurm\n")


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_offers_the_same(scripts):
    asks = "\n".join(f"complete -C '{text}'" for text in WANTED)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source gpuwhy.fish\n{asks}"],
        cwd=scripts,
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PATH": PATH, "HOME": str(scripts)},
    )
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == list(WANTED.values())


@pytest.mark.parametrize("name", table.COMMANDS)
def test_a_table_makes_a_parser_and_its_examples_parse(name):
    command = table.command(name)
    assert parser.parser_of(name).format_help().startswith(f"usage: gpuwhy {name}")
    assert command.examples
    for line in command.examples:
        words = shlex.split(line.partition(" > ")[0].replace('eval "$(', "").replace(')"', ""))
        argv = words[words.index("gpuwhy") + 1 :]
        assert parser.parsed(argv).command in (name, "check"), line


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["check", "--jsn"], "did you mean --json?"),
        (["plan", "--gpus", "A100", "torch"], "did you mean --gpu?"),
        (["explain", "--logonly", "x"], "did you mean --log-only?"),
        (["explain", "--gpu", "A100"], "gpuwhy check has"),
        (["fleet", "colect"], "did you mean 'collect'?"),
    ],
)
def test_a_typo_is_answered_with_the_near_name(argv, said):
    with pytest.raises(UsageError) as told:
        parser.parsed(argv)
    assert said in str(told.value)


@pytest.mark.parametrize("name", table.COMMANDS)
def test_options_that_exclude_each_other_exist_and_are_refused(name):
    rows = {flag: row for row in table.command(name).rows for flag in row.flags}
    conflicts = table.command(name).conflicts
    for pair in conflicts:
        one, other = pair.split()
        given = [one] if other.startswith("!") else [one, other]
        if not {*given} <= {*rows}:  # shared by commands that have not every one
            continue
        words = [name]
        for row in map(rows.get, given):
            words += [row.flags[-1], *([*row.values, "1"][:1] if row.value else [])]
        with pytest.raises(UsageError) as told:
            parser.parsed(words)
        assert str(told.value) in conflicts.values()
        assert other.lstrip("!") in rows
