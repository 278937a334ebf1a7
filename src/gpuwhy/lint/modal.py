"""Modal: the images that a Python file builds by calls such as Image.debian_slim().pip_install(…); nothing is run."""

from __future__ import annotations

import ast
import re

import msgspec

from gpuwhy.lint import requirements, scripts
from gpuwhy.lint.sheet import Command, Environment, Image, Include, Index, Role, Sheet
from gpuwhy.lint.trees import parsed
from gpuwhy.model.lint import Place, Problem

_CHARACTERS = 500_000
_STARTS = (
    "debian_slim",
    "from_registry",
    "micromamba",
    "from_dockerfile",
    "from_aws_ecr",
    "from_gcp_artifact_registry",
)
_ROLES: dict[str, Role] = {"index_url": "only", "extra_index_url": "extra", "find_links": "links"}


def read(path: str, text: str) -> Sheet:
    """Every image of a Modal file: the longest chains of calls that start with one of Image's constructors."""
    sheet = Sheet(path, "modal")
    try:
        tree = parsed(text[:_CHARACTERS])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        sheet.problems.append(Problem(Place(path, getattr(error, "lineno", 0) or 0), f"no Python: {error}"))
        return sheet
    gpu = re.search(r"\bgpu\s*=\s*[^N\s]", text)
    named = tuple(set(re.findall(r"\bgpu\s*=\s*(?:modal\.gpu\.)?[\"']?([A-Z][A-Z]?\d+\w*?)(?:-\d+GB)?\b", text)))
    known = _constants(tree)
    inner: set[int] = set()
    for node in ast.walk(tree):
        chain = _chain(node) if isinstance(node, ast.Call) and id(node) not in inner else []
        inner |= {id(call) for call in chain}
        if chain and _method(chain[0]) in _STARTS:
            _image(sheet, chain, "the file asks Modal for a GPU" if gpu else "", known)
            sheet.environments[-1].on = named if len(named) == 1 else ()
    return sheet


def _constants(tree: ast.Module) -> dict[str, ast.Constant]:
    """The texts that a file gives names, each at its place."""
    named = [n for n in tree.body if isinstance(n, ast.Assign) and len(n.targets) == 1]
    found = {t.id: n.value for n in named if isinstance(t := n.targets[0], ast.Name)}
    return {name: value for name, value in found.items() if isinstance(value, ast.Constant)}


def _chain(node: ast.expr) -> list[ast.Call]:
    """The calls of `a.b().c().d()`, first call first."""
    out: list[ast.Call] = []
    while isinstance(node, ast.Call):
        out.append(node)
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return out[::-1]


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _texts(call: ast.Call, known: dict[str, ast.Constant] | None = None) -> list[tuple[str, int]]:
    """The texts among a call's arguments, those of lists and those with names too, with their lines."""
    out = []
    for argument in call.args:
        for given in argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]:
            node = (known or {}).get(given.id, given) if isinstance(given, ast.Name) else given
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                out.append((node.value, node.lineno))
    return out


def _keywords(call: ast.Call) -> dict[str, str]:
    return {
        k.arg: k.value.value
        for k in call.keywords
        if k.arg and isinstance(k.value, ast.Constant) and isinstance(k.value.value, str)
    }


def _image(sheet: Sheet, chain: list[ast.Call], gpu: str, known: dict[str, ast.Constant]) -> None:
    stage = Environment(sheet.path, system="linux", gpu=gpu)
    sheet.environments.append(stage)
    first, told = _texts(chain[0]), _keywords(chain[0])
    python = told.get("add_python") or told.get("python_version", "")
    if re.fullmatch(r"3\.\d+", python):
        stage.pythons, stage.python_from = (python,), f"the image gets Python {python}"
    if _method(chain[0]) == "from_registry" and first:
        stage.image = Image(first[0][0], Place(sheet.path, first[0][1]))
    elif _method(chain[0]) == "debian_slim":
        stage.image = Image("debian:12-slim", Place(sheet.path, chain[0].lineno))
    for call in chain[1:]:
        _step(sheet, stage, call, known)


def _step(sheet: Sheet, stage: Environment, call: ast.Call, known: dict[str, ast.Constant]) -> None:
    method = _method(call)
    if method in ("pip_install", "uv_pip_install"):
        stage.commands.append(Command(("pip", "install"), (call.lineno, call.lineno)))
        _packages(sheet, stage, call, method.startswith("uv"), known)
    elif method == "pip_install_from_requirements":
        stage.includes += [Include(text, Place(sheet.path, line), must=False) for text, line in _texts(call)]
    elif method == "apt_install":
        stage.apt |= dict(_texts(call))
    elif method in ("run_commands", "dockerfile_commands"):
        for text, line in _texts(call):
            scripts.fill(sheet, re.sub(r"^RUN\s+", "", text), line, {})


def _packages(sheet: Sheet, stage: Environment, call: ast.Call, uv: bool, known: dict[str, ast.Constant]) -> None:
    told, place = _keywords(call), Place(sheet.path, call.lineno)
    roles: dict[str, Role] = {**_ROLES, "extra_index_url": "first"} if uv else dict(_ROLES)
    indexes = tuple(Index(told[key], role, place) for key, role in roles.items() if key in told)
    lines = (requirements.Logical(text.strip(), line) for text, line in _texts(call, known) if text.strip())
    made = Environment(sheet.path)
    requirements.fill(made, Sheet(sheet.path, ""), lines)
    step = len(stage.commands)
    stage.pins += [msgspec.structs.replace(requirements.with_indexes(pin, indexes), step=step) for pin in made.pins]
