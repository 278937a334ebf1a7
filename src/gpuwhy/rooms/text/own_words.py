"""Own words: the command that a text shows, with what a fix changes in it: a container's start, the index of an installation, the number of a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.knowledge.variants import index_of, variants
from gpuwhy.rooms.text.later import Later

_RUN = Later(r"\b(?:nvidia-)?(?:docker|podman)(?:\.exe)?(?: container)? (?:run|create) ((?:[^\n]*\\\n)*[^\n]*)")
_BARE = re.compile(r"^(?P<call>(?:sudo )?docker run) (?P<options>(?:-\S+(?: (?!-|IMAGE)\S+)? )+)IMAGE$", re.MULTILINE)
_OPTION = re.compile(r"-\S+(?: (?!-)\S+)?")
_GIVES = re.compile(r"--(?:gpus|runtime|device)\b")
_NAMED = re.compile(r"(?<!\S)--name[ =](?P<name>[\w.-]+)")
_PAST = re.compile(r" *(?:&&|\|\|?|;|2?>|<|#| & ).*$")
_MOST = 400
"""Characters of a command that is told again."""


def run_again(command: str, text: str, image: str) -> str:
    """A bare start of a container as the one that the text shows, with the options that it lacks; else as it is."""
    bare = _BARE.search(command)
    tail = _started(text, image) if bare and image else ""
    if not bare or not tail:
        return command
    missing = [one for one in _OPTION.findall(bare["options"]) if not _has(tail, one)]
    if not missing:
        return command  # it was started so already
    again = f"{_freed(bare['call'], tail)}{' '.join((bare['call'], *missing, tail))}"
    return command[: bare.start()] + again + command[bare.end() :]


def _freed(call: str, tail: str) -> str:
    """The line that frees the name of a container which is there by now: docker refuses it a second time."""
    name = _NAMED.search(tail)
    return f"{call.replace(' run', ' rm')} {name[1]}\n" if name and not re.search(r"(?<!\S)--rm(?!\S)", tail) else ""


def _started(text: str, image: str) -> str:
    """The words behind `docker run` in the first line that starts this image; "" where they are not whole."""
    for run in _RUN.finditer(text):
        tail = _PAST.sub("", " ".join(run[1].replace("\\\n", " ").split()))
        if image in tail.split() and len(tail) < _MOST and tail.count('"') % 2 == tail.count("'") % 2 == 0:
            return tail
    return ""


def _has(tail: str, option: str) -> bool:
    """Whether a start has an option already, whatever its value; a GPU is handed in by more than one."""
    if option.startswith("--device=/dev/"):
        return option.partition("=")[2] in tail
    if _GIVES.match(option):
        return bool(_GIVES.search(tail))
    name, value = re.split(r"[= ]", option, maxsplit=1) if re.search(r"[= ]", option) else (option, "")
    return (
        f"-e {value.partition('=')[0]}=" in tail if name == "-e" else bool(re.search(rf"(?<!\S){name}(?=[= ])", tail))
    )


_INSTALLS = re.compile(r"\b(?:uv )?pip3? install\b[^\n]*?(?<![\w./=-])[\"']?torch==(?P<release>\d[\d.]*)[\"']?(?=\s|$)")
_TAKES = re.compile(r"--(?:extra-)?index-url|--torch-backend|--find-links|(?<!\S)-[fi] ")
_ASKED = Later(r"pip3? install [^\n]*--(?:extra-)?index-url[ =]\S*/whl/(cu\d+)\b")


def from_its_index(line: str, text: str, windows: bool) -> str:
    """PyTorch of the index that the text's own command took; on Windows, where the default one has no CUDA, of one that has it."""
    found = _INSTALLS.search(line)
    if not found or _TAKES.search(line):
        return line
    there: Sequence[str] = [one.backend for one in variants(found["release"])]
    asked = _ASKED.search(text)
    if asked and (asked[1] in there or not there):
        return f"{line} --index-url {index_of(asked[1])}"
    return f"{line} --index-url {index_of(there[0])}" if there and (asked or windows) else line


_CHOSEN = Later(r"(?<!\S)(?P<option>--(?:device[-_]id|cuda-device|gpu(?:[-_](?:id|device))?|main-gpu|default-device)[ =])(?P<number>[1-9])(?!\S)")  # fmt: skip


def chosen_gpu(text: str) -> tuple[str, str]:
    """The option by which a text's command asks for a GPU other than the first, and the same for the first; "" where none does."""
    found = _CHOSEN.search(text)
    return (f"{found['option']}{found['number']}", f"{found['option']}0") if found else ("", "")


_PROGRAM = re.compile(r"python3? (?P<script>[\w-]+\.py)(?P<options>(?: --[\w-]+(?: (?!-)\S+)?)+)")


def program_again(command: str, text: str) -> str:
    """A start of a program with an option as the one that the text shows, with that option; else as it is."""
    found = _PROGRAM.fullmatch(command)
    if not found:
        return command
    script = re.escape(found["script"])
    typed = re.search(rf"(?:^|[>$#] ?)(?P<call>(?:[\w.:~/\\-]*[/\\])?python3?(?:\.exe)? (?:-\w+ )*(?:[\w.-]+[/\\])*{script}(?: [^\n|&;<>\"']*)?)$", text, re.MULTILINE)  # fmt: skip
    if not typed:
        return command
    missing = [one for one in re.findall(r"--[\w-]+(?: (?!-)\S+)?", found["options"]) if one.split()[0] not in typed["call"].split()]  # fmt: skip
    return " ".join((typed["call"].strip(), *missing)) if missing else command
