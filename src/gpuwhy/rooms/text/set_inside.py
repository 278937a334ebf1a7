"""Set inside: a variable of a program that runs in a container belongs to what starts that container: Compose's file, `docker run`, a pod's manifest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import typed_inside
from gpuwhy.rooms.text.told_names import image_of

_SET = re.compile(r"^export ((?:[A-Za-z_][A-Za-z0-9_]*=\S+ ?)+)(?:  +#.*)?$")
_CLEARED = re.compile(r"^unset ([A-Za-z_][A-Za-z0-9_ ]*)(?:  +#.*)?$")
_SETS = re.compile(r"(?m)^(?:export|unset) ")
_BEFORE = re.compile(r":?\$\{?[A-Za-z_]\w*(?::\+[^}]*)?\}?:?")
_PREFIXED = Later(r"(?:^(?:[a-z][\w.-]{1,40} +| )\| [^\n]*\n){3}|^(?:(?!process|program|command|job|script|task|child)[a-z][\w.-]{1,40} )?exited with code \d+\s*$", re.MULTILINE)  # fmt: skip
"""Lines that Compose prints, each behind the name of its service, which the reader may have taken off; and how it says that one ended."""
_ENTERED = Later(r"\b(?:docker|podman) (?:run|exec)\b[^\n]*(?:\s-\w*i\w*t|\s-it|--interactive)[^\n]*(?:bash|sh)\s*$|^root@[\w.-]+:", re.MULTILINE)  # fmt: skip
"""A shell inside, where a variable can be set as anywhere."""

_BUILD = Later(r"ERROR: process \"/bin/(?:ba)?sh -c |The command '/bin/(?:ba)?sh -c [^\n]*returned a non-zero|^#\d+ ERROR|^-+> \[[^\n]*RUN ", re.MULTILINE)  # fmt: skip
"""A step of `docker build` that failed."""

Values = Mapping[str, str]


def launched_by(case: Asked) -> str:
    """What starts the container that a program was seen in from outside; "" where there is none, or where somebody typed inside it."""
    if case.windows or typed_inside(case.text) or _ENTERED.search(case.text):
        return ""
    if _BUILD.search(case.text):
        return "build"
    if "kubernetes" in case.tools:
        return "kubernetes"
    if "compose" in case.tools or _PREFIXED.search(case.text):
        return "compose"
    return "docker" if image_of(case.text)[1] and "docker" in case.tools else ""


def _value(text: str) -> str:
    """A value that no shell reads: without what stood there before, and without quotes."""
    return _BEFORE.sub("", text).strip("\"'")


def _in_compose(values: Values, case: Asked) -> str:
    pairs = ", ".join(f'{name}: "{value}"' for name, value in values.items())
    return on.code(
        f"environment: {{{pairs}}}    # in compose.yaml, in the service's part; then docker compose up -d --force-recreate"
    )


def _in_a_pod(values: Values, case: Asked) -> str:
    pairs = ", ".join(f'{{name: {name}, value: "{value}"}}' for name, value in values.items())
    return on.code(f"env: [{pairs}]    # in the manifest, in the container's part; then apply it")


def _in_a_build(values: Values, case: Asked) -> str:
    return on.dockerfile("\n".join(f"ENV {name}={value}" for name, value in values.items()))


def _in_a_run(values: Values, case: Asked) -> str:
    options, image = image_of(case.text)
    kept = _without(options, values)
    given = " ".join(f"-e {name}={value}" for name, value in values.items())
    gpus = "" if any(re.match(r"--(?:gpus|runtime|device)\b", one) for one in kept) else "--gpus all "
    return f"docker run {gpus}{' '.join((*kept, given))} {image}".replace("  ", " ")


def _without(options: Sequence[str], values: Values) -> list[str]:
    """Options of `docker run` without those that set these variables."""
    out: list[str] = []
    for one in options:
        if one.split("=")[0] in values and out and out[-1] in ("-e", "--env"):
            out.pop()
        elif not re.match(rf"(?:-e|--env=)(?:{'|'.join(map(re.escape, values))})=", one):
            out.append(one)
    return out


_WAYS: Mapping[str, Callable[[Values, Asked], str]] = {"compose": _in_compose, "kubernetes": _in_a_pod, "docker": _in_a_run, "build": _in_a_build}  # fmt: skip
_HINTS = {
    "compose": "for the service: under environment: in compose.yaml, then docker compose up -d --force-recreate",
    "kubernetes": "for a pod: under env: of the container in its manifest",
    "docker": "for a container: docker run -e NAME=VALUE, or ENV in its Dockerfile",
    "build": "in the Dockerfile: as ENV NAME=VALUE, before the step that fails",
}
_GONE = {
    "compose": "take it out of environment: in compose.yaml and of ENV in the image's Dockerfile, or make it empty there",
    "kubernetes": "take it out of env: in the manifest and of ENV in the image's Dockerfile, or make it empty there",
    "build": "take its ENV out of the Dockerfile",
    "docker": "take it out of docker run and of ENV in the image's Dockerfile, or make it empty there",
}


_SHOWING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Variables whose empty value hides every GPU: where one must have a value, it is the first GPU's."""


def _empty(name: str) -> str:
    return "0" if name in _SHOWING else ""


def _outside(text: str, other: str) -> str:
    """A sentence that speaks of no shell, where none is open."""
    return on.as_said(re.sub(r" in (?:this|the) shell\b", "", text), other)


_PASSES = re.compile(r"docker run (?P<options>(?:--gpus all |--rm |-it |(?:-e|--env) [A-Za-z_]\w*=\S+ )+)IMAGE$")
_LISTED = re.compile(r"environment: \[(?P<options>[A-Za-z_]\w*=[^\]]*)\]$")
_PASSED = re.compile(r"([A-Za-z_]\w*)=([^\s,]+)")


def _given_by_another(fix: Fix, launcher: str, case: Asked) -> Fix:
    """Variables that a fix passes by `docker run` or by Compose's file, where something else starts the container."""
    found = _PASSES.match(fix.command) or _LISTED.match(fix.command)
    values = dict(_PASSED.findall(found["options"])) if found else {}
    if not values or launcher not in ("kubernetes", "compose") or "$(" in fix.command:
        return fix
    return structs.replace(fix, command=_WAYS[launcher](values, case))


def set_inside(fix: Fix, case: Asked) -> Fix:
    """A fix that sets or takes out variables, said for what starts the container."""
    launcher = launched_by(case)
    if not launcher or not _SETS.search(fix.command):
        return _given_by_another(fix, launcher, case)
    given, gone = _SET.match(fix.command), _CLEARED.match(fix.command)
    if gone:
        told = _GONE[launcher].replace("make it empty there", "name the GPU there (empty would hide all)") if set(gone[1].split()) & set(_SHOWING) else _GONE[launcher]  # fmt: skip
        return structs.replace(fix, text=_outside(f"{fix.text}; {told}", fix.text), command=_WAYS[launcher]({name: _empty(name) for name in gone[1].split()}, case))  # fmt: skip
    if given and "$(" not in given[1]:
        read = str if launcher == "build" else _value  # a Dockerfile reads variables itself
        values = {name: read(value) for name, _, value in (one.partition("=") for one in given[1].split())}
        text = (
            on.as_said(f"{fix.text}, in the Dockerfile, before the step that fails", fix.text)
            if launcher == "build"
            else fix.text
        )
        return structs.replace(fix, text=text, command=_WAYS[launcher](values, case))
    hint = _HINTS[launcher]
    return fix if hint in fix.text else structs.replace(fix, text=on.as_said(f"{fix.text}; {hint}", fix.text))
