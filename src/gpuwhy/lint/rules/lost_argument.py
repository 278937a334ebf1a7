"""A build argument that the stage does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint import dockerfile
from gpuwhy.lint.dockerfile import BadDockerfileError, Instruction
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule(
    "lost-argument", "error", "a build argument of before FROM, or of another stage, that the stage does not have"
)

_KNOW = source(
    "Dockerfile reference, ARG: scope", "one before FROM is outside of every stage; one of a stage ends with it"
)
_OF_IMAGES = re.compile(
    r"CUDA_\w*|CUDNN_\w*|NV_\w+|NVIDIA_\w+|NCCL_\w+|PYTHON\w*|PYTORCH_\w+|TORCH_VERSION|TENSORFLOW_\w*|LD_LIBRARY_PATH|PATH"
    r"|HOME|USER|LANG|CONDA_\w+|ROS_\w+|TARGET\w+|BUILD\w+|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|PWD|SHELL|DEBIAN_\w+"
)
"""Variables that a base image may set itself."""


class _Stages:
    """Which names each stage has, instruction by instruction."""

    def __init__(self) -> None:
        self.outside: dict[str, int] = {}  # before the first FROM → line
        self.elsewhere: dict[str, int] = {}  # of stages before this one
        self.held: dict[str, set[str]] = {}  # stage → its names
        self.own: set[str] = set()
        self.begun = False

    def begin(self, one: Instruction) -> None:
        words = [word for word in one.text.split() if not word.startswith("--")]
        self.own = set(self.held.get(words[0].lower(), ())) if words else set()
        self.begun = True
        if len(words) > 2 and words[1].lower() == "as":
            self.held[words[2].lower()] = self.own

    def declare(self, one: Instruction) -> None:
        for name in re.findall(r"(?:^|\s)([A-Za-z_]\w*)(?==|\s|$)", one.text):
            if not self.begun:
                self.outside[name] = one.line
            elif one.keyword == "ARG":
                self.own.add(name)
                self.elsewhere.setdefault(name, one.line)
            else:
                self.own.add(name)

    def lost(self, one: Instruction) -> tuple[str, int] | None:
        """The first name that an instruction uses and its stage does not have, with the line that declares it."""
        for name in re.findall(r"(?<!\\)\$\{?([A-Za-z_]\w*)(?=[^\w:?+-]|$)", one.text):
            line = self.outside.get(name) or self.elsewhere.get(name)
            made = re.search(rf"(^|[\s;&(]){name}=|\b(read|for|export|local)\s+{name}\b", one.text)
            if line and name not in self.own and not made and not _OF_IMAGES.fullmatch(name):
                return name, line
        return None


def check(scope: Scope) -> Iterator[Mistake]:
    """RUN pip install torch==${TORCH}, where ARG TORCH stands before FROM and not again in the stage."""
    text = scope.read(scope.environment.path) or "" if scope.kind == "dockerfile" else ""
    ours = scope.for_gpus or re.search(r"cuda|nvidia|torch|tensorflow", text, re.IGNORECASE)
    stages, told = _Stages(), set[str]()
    written = _written(text)
    for one in (_expanded(one, written) for one in (_instructions(text) if ours else ())):
        if one.keyword == "FROM":
            stages.begin(one)
        elif one.keyword in ("ARG", "ENV"):
            stages.declare(one)
        elif one.keyword == "RUN" and (found := stages.lost(one)) and found[0] not in told:
            told.add(found[0])
            name, line = found
            at = one.line + one.text[: one.text.index(name)].count("\n")
            said = f"${name} is empty here: ARG {name} (line {line}) stands outside of this stage"
            yield RULE.mistake(Place(scope.environment.path, at), said, _KNOW, f"write ARG {name} after this FROM, too")


_QUOTED = re.compile(r"<<-?\s*([\"'])(\w+)\1")
_SCRIPT = re.compile(r"\s*RUN\s+<<-?\s*[\"']?\w+[\"']?\s*$")
_SAID = re.compile(r"\b(?:echo|printf)\s+(?:-\w+\s+)?(?:'[^']*'|\"[^\"]*\"(?=\s*(?:$|;|&&|\|\|)))")


def _written(text: str) -> set[int]:
    """The lines of documents (<<'END') that a command only writes somewhere: nothing in them is expanded."""
    out, end = set[int](), ""
    for number, line in enumerate(text.split("\n"), 1):
        if end and line.strip() != end:
            out.add(number)
            continue
        found = _QUOTED.search(line) if not end and not _SCRIPT.match(line) else None
        end = found[2] if found else ""
    return out


def _expanded(one: Instruction, written: set[int]) -> Instruction:
    """An instruction without what is only written somewhere, by a document or by echo; its lines stay."""
    lines = [line if one.line + at not in written else "" for at, line in enumerate(one.text.split("\n"))]
    return one._replace(text=_SAID.sub("", "\n".join(lines)))


def _instructions(text: str) -> list[Instruction]:
    try:
        return list(dockerfile.instructions(text)) if text else []
    except BadDockerfileError:
        return []
