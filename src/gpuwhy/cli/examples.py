"""What the help shows behind the options: examples that work as they stand, and exit codes."""

from __future__ import annotations

import textwrap

USUAL = {
    0: "nothing wrong found, or a question answered",
    1: "a cause is named",
    2: "bad usage, or an input that cannot be read",
    3: "gpuwhy itself failed",
    4: "undecided, or not recognised",
}
_PRINTED = {0: "printed", 2: "nothing is known by that name; near names are told"}
_WRITTEN = {0: "written", 2: "bad usage, or a file that cannot be read or written"}

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "check": (
        ("gpuwhy check", "this machine and the active environment"),
        ("gpuwhy check --python ~/project/.venv", "another environment"),
        ("gpuwhy check --probe", "try every step, from the driver to a convolution"),
        ("gpuwhy check --gpu A100 --driver 550", "judge this environment as on that machine"),
    ),
    "explain": (
        ("gpuwhy explain train.log", "why did this run fail?"),
        ("python train.py 2>&1 | gpuwhy explain", "the same, from a pipe"),
        ('gpuwhy explain "CUDA error: out of memory"', "an error's own words"),
        ("make 2>&1 | gpuwhy explain", "a compiler, linker, CMake or Bazel"),
        ("gpuwhy explain --log-only other.log", "a log of another machine"),
    ),
    "run": (
        ("gpuwhy run -- python train.py", "unchanged; when it fails, the reason follows"),
        ("gpuwhy run --json why.json -- ./prog", "the reason as a file, for a program"),
    ),
    "prove": (("gpuwhy prove --budget 5m -- python train.py", "run it again with one thing changed at a time"),),
    "fix": (
        ("gpuwhy fix", "the steps; nothing is changed"),
        ("gpuwhy fix --apply", "carry them out in a copy of the environment"),
    ),
    "plan": (
        ("gpuwhy plan tensorflow", "which release runs here, and how to install it"),
        ('gpuwhy plan "torch>=2.4" flash-attn --gpu "RTX 3090" --driver 535', "for another machine"),
    ),
    "fit": (
        ("gpuwhy fit ./Llama-3.1-8B --tokens 8192", "inference, into this machine's GPU as it is now"),
        ('gpuwhy fit model.gguf --gpu "RTX 4090"', "into another one"),
        ("gpuwhy fit config.json --train --batch 8 --tokens 2048 --gpu H100", "training, before the download"),
        ("gpuwhy fit ./model --train lora --quantise 4bit --gpu-memory 16GB", "QLoRA"),
        ("gpuwhy fit ./model --train --fsdp 8 --gpu A100-80GB", "shared by eight"),
    ),
    "lint": (
        ("gpuwhy lint requirements.txt Dockerfile", "before it is built"),
        ("gpuwhy lint .", "every file of a project"),
    ),
    "releases": (
        ("gpuwhy releases tensorflow 1.15", "CUDA, cuDNN, Pythons of one release"),
        ("gpuwhy releases torch", "every release for this system"),
        ("gpuwhy releases tensorflow --works-with cuda=10.1 cudnn=7.6.5", "which ones were built for these"),
        ("gpuwhy releases cudnn", "the packages that hold cuDNN"),
    ),
    "ask": (
        ('gpuwhy ask "which CUDA does TensorFlow 2.10 need?"', "versions that go together"),
        ('gpuwhy ask "does TF 2.3 run on an RTX 3060?"', "a card, a driver, a system"),
    ),
    "code": (
        ("gpuwhy code 719", "an error number"),
        ("gpuwhy code cudnn 4", "of one library"),
        ("gpuwhy code CUBLAS_STATUS_ALLOC_FAILED", "an error name"),
    ),
    "cause": (
        ("gpuwhy cause", "every cause that gpuwhy knows"),
        ("gpuwhy cause cudnn.missing", "the page of one"),
    ),
    "inspect": (
        ("gpuwhy inspect", "the active environment"),
        ("gpuwhy inspect ./prog", "which CUDA libraries a program needs, opens and gets"),
        ("gpuwhy inspect torch-2.6.0-cp312-cp312-linux_x86_64.whl", "a wheel, without installing it"),
    ),
    "record": (
        ("gpuwhy record machine.json.gz", "keep what this machine answers"),
        ("gpuwhy check --from machine.json.gz", "diagnose it on another machine"),
    ),
    "report": (("gpuwhy report machine.json.gz --html page.html", "a page to look at"),),
    "fleet": (
        ("gpuwhy fleet collect -- srun -N4 --ntasks-per-node=1", "ask every node, and compare"),
        ("gpuwhy fleet compare nodes.jsonl", "compare what they printed"),
    ),
    "mcp": (("gpuwhy mcp", "a server on standard input and output, for an agent's configuration"),),
    "help": (("gpuwhy help explain", "the same as gpuwhy explain --help"),),
    "completion": (
        ('eval "$(gpuwhy completion bash)"', "in ~/.bashrc"),
        ("gpuwhy completion fish > ~/.config/fish/completions/gpuwhy.fish", "for fish"),
    ),
}
CODES: dict[str, dict[int, str]] = {
    "ask": {0: "answered", 2: "bad usage", 4: "several reasons fit, or no question that gpuwhy can answer"},
    "run": {},
    "mcp": {0: "the client has gone", 2: "bad usage"},
    "prove": {**USUAL, 0: "the program does not fail", 1: "it fails; the answer says what was proven"},
    "fix": {**USUAL, 0: "nothing to fix, or it is fixed", 1: "there is something to fix, or the fix did not help",
            4: "a cause is only possible", 5: "it changed something and could not take it back"},
    "plan": {0: "a proposal", 1: "nothing works: the conflict and the nearest plan are printed", 2: "bad usage"},
    "fit": {0: "it fits", 1: "it does not; changes that make it fit are printed",
            2: "bad usage, or a model that cannot be read", 3: "gpuwhy itself failed",
            4: "it only just fits, or a part could not be counted"},
    "lint": {0: "no error", 1: "a mistake of severity error (with --strict any)",
             2: "a file that cannot be read or understood"},
    "releases": _PRINTED, "code": _PRINTED, "cause": _PRINTED, "help": _PRINTED, "completion": _PRINTED,
    "inspect": {0: "everything that it needs is found", 1: "something is missing or damaged",
                2: "PATH cannot be read", 3: "gpuwhy itself failed"},
    "record": _WRITTEN, "report": _WRITTEN,
    "fleet": {**USUAL, 0: "all nodes equal and well",
              1: "a node gave no answer, is broken, or differs in what can make a job fail",
              4: "nodes differ in what cannot make a job fail"},
}  # fmt: skip
WIDTH = 78
_RUN = "exit code: the program's own, always"


def epilog(command: str) -> str:
    """Examples and exit codes of a command."""
    rows = EXAMPLES.get(command, ())
    lines = ["examples:", *_rows(rows), ""] if rows else []
    codes = CODES.get(command, USUAL)
    lines += ["exit codes:", *(line for code in codes.items() for line in _code(*code))] if codes else [_RUN]
    return "\n".join(lines)


def _code(number: int, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"  {number}  ", subsequent_indent="     ")


def _rows(rows: tuple[tuple[str, str], ...]) -> list[str]:
    """Command and purpose side by side; where they do not fit, the purpose below."""
    width = max(len(line) for line, _ in rows)
    if all(width + len(text) + 4 <= WIDTH for _, text in rows):
        return [f"  {line:<{width}}  {text}" for line, text in rows]
    return [part for line, text in rows for part in (f"  {line}", f"      {text}")]


def overview(lines: dict[str, str]) -> str:
    """The help of the program: the commands by what people come for."""
    from gpuwhy.cli.parser import GROUPS

    out = ["usage: gpuwhy [COMMAND] [options]", "", "Why does my GPU stack fail, and what do I do about it?"]
    for title, names in GROUPS:
        out += ["", f"{title}:"]
        for name in names:
            out += textwrap.wrap(
                lines.get(name, ""), WIDTH, initial_indent=f"  {name:<11} ", subsequent_indent=" " * 14
            )
    out += ["", "gpuwhy alone means gpuwhy check. Options, examples, exit codes: gpuwhy help check"]
    out += ["The version: gpuwhy --version", "", "exit codes:"]
    for number, text in USUAL.items():
        out += _code(number, text)
    return "\n".join(out) + "\n"
