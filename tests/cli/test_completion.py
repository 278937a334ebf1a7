"""Completion in real shells: what Tab offers, without starting gpuwhy."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time

import pytest

from gpuwhy.cli import completion, examples, parser


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
    "gpuwhy completion powe": "powershell",
    "gpuwhy explain some.l": "some.log",
    "gpuwhy help pla": "plan",
}


def test_bash_offers_commands_options_causes_projects_and_files(scripts):
    lines = [
        "source gpuwhy.bash",
        'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpuwhy; echo "${COMPREPLY[*]}"; }',
    ]
    asked = {text: word for text, word in WANTED.items() if word != "some.log"}  # bash's own default offers the files
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "-c", "\n".join([*lines, *(f"ask {text}" for text in asked)])],
        cwd=scripts, capture_output=True, text=True, timeout=30, env={"PATH": "/nowhere"},
    )  # fmt: skip
    assert not done.stderr
    assert done.stdout.split("\n")[:-1] == list(asked.values())


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_offers_the_same(scripts):
    asks = "\n".join(f"complete -C '{text}'" for text in WANTED)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source gpuwhy.fish\n{asks}"],
        cwd=scripts, capture_output=True, text=True, timeout=30, env={**os.environ, "HOME": str(scripts)},
    )  # fmt: skip
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == list(WANTED.values())


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_offers_the_same(scripts):
    begin = "autoload -Uz compinit; compinit -u -D; source ./gpuwhy.zsh; print BE''GUN"
    said = _typed(["zsh", "-f", "-i"], scripts, begin, [f"{text}\t" for text in WANTED])
    for text, word in WANTED.items():
        assert f"{text.rpartition(' ')[0]} {word}" in said.replace("\x07", ""), (text, said)


def _typed(argv, folder, begin, lines) -> str:
    """What a shell on a terminal shows for keys pressed; each line is taken back after its Tab."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(argv[0], argv, {"TERM": "dumb", "PATH": os.environ["PATH"], "HOME": str(folder)})
    said = b""

    def until(wanted: bytes) -> None:
        nonlocal said
        end, start = time.monotonic() + 20, len(said)
        while wanted not in said[start:] and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                said += os.read(terminal, 65536)

    os.write(terminal, f"{begin}\n".encode())
    until(b"BEGUN")
    for line in lines:
        os.write(terminal, line.encode())
        until(WANTED[line.rstrip("\t")].encode())
        os.write(terminal, b"\x15")  # Ctrl-U
    os.close(terminal)
    os.waitpid(child, 0)
    return said.decode(errors="replace")


def test_powershell_is_balanced(scripts):
    text = (scripts / "gpuwhy.powershell").read_text()
    bare = "".join(part for place, part in enumerate(text.replace("''", "").split("'")) if place % 2 == 0)
    assert all(bare.count(a) == bare.count(b) for a, b in ("()", "{}", "[]"))
    assert text.count("'") % 2 == 0


def test_powershell_is_parsed_by_its_grammar(scripts):
    language = pytest.importorskip("tree_sitter_powershell").language()
    tree_sitter = pytest.importorskip("tree_sitter")
    parser = tree_sitter.Parser(tree_sitter.Language(language))
    text = (scripts / "gpuwhy.powershell").read_bytes()
    assert not parser.parse(text).root_node.has_error
    assert parser.parse(text.replace(b"}", b"", 1)).root_node.has_error


def test_every_command_has_examples_that_parse_and_exit_codes(capsys):
    import shlex

    assert set(examples.EXAMPLES) == set(parser.COMMANDS)
    for name, rows in examples.EXAMPLES.items():
        for line, _ in rows:
            words = shlex.split(line.partition("|")[2] if "| gpuwhy" in line else line.partition(" > ")[0])
            words = (
                words[words.index("gpuwhy") + 1 :]
                if "gpuwhy" in words
                else shlex.split(line.split('"')[1].strip("$()"))[1:]
            )
            from gpuwhy.cli.rest import split

            assert parser.parsed(split(words)[0]).command in (name, "check"), line


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
    from gpuwhy.cli import UsageError

    with pytest.raises(UsageError) as told:
        parser.parsed(argv)
    assert said in str(told.value)
