"""devcontainer.json: JSON with comments; its image, its run arguments and what it asks of the host."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuwhy.lint import scripts
from gpuwhy.lint.sheet import Environment, Image, Sheet, Workload
from gpuwhy.model.lint import Place, Problem

_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])", re.DOTALL)


def read(path: str, text: str) -> Sheet:
    """A devcontainer.json."""
    sheet = Sheet(path, "devcontainer")
    plain = _TOKEN.sub(lambda m: m[0] if m[0].startswith('"') else "\n" * m[0].count("\n"), text)
    plain = re.sub(r",(\s*[}\]])", r"\1", plain)
    try:
        data = msgspec.json.decode(plain.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        from gpuwhy.lint.locks import json_line

        sheet.problems.append(Problem(Place(path, json_line(plain)), f"no JSON: {error}"))
        return sheet
    if isinstance(data, dict):
        sheet.workloads.append(_container(path, text, data))
        _commands(sheet, text, data)
    return sheet


def _commands(sheet: Sheet, text: str, data: dict[str, Any]) -> None:
    """What is installed when the container has been made."""
    work = sheet.workloads[-1]
    sheet.environments.append(Environment(sheet.path, system="linux", image=work.image, includes_unknown=True))
    for key in ("onCreateCommand", "updateContentCommand", "postCreateCommand"):
        told = data.get(key)
        parts = told.values() if isinstance(told, dict) else [told]
        for part in parts:
            command = " ".join(map(str, part)) if isinstance(part, list) else part
            if isinstance(command, str):
                scripts.fill(sheet, command, _line(text, f'"{key}"'), {})


def _container(path: str, text: str, data: dict[str, Any]) -> Workload:
    at = _line(text, '"runArgs"')  # 1 where there is none
    work = Workload("devcontainer", str(data.get("name", "devcontainer")), Place(path, at))
    image = data.get("image")
    if isinstance(image, str):
        work.image = Image(image, Place(path, _line(text, '"image"')))
    told = data.get("runArgs")
    arguments = [one for one in told if isinstance(one, str)] if isinstance(told, list) else []
    asks = _asks(data, arguments)
    if asks:
        work.request = Place(path, _line(text, f'"{asks}"'))
    work.shared_memory = any(a.startswith(("--shm-size", "--ipc")) for a in arguments)
    work.exempt = "--privileged" in arguments or data.get("privileged") is True
    _built(work, data)
    work.partial = "dockerComposeFile" in data or not (work.image or work.built)
    return work


def _asks(data: dict[str, Any], arguments: list[str]) -> str:
    """The key by which a GPU is asked for."""
    host = data.get("hostRequirements")
    if isinstance(host, dict) and host.get("gpu") not in (None, False):
        return "hostRequirements"
    given = any(one.startswith(("--gpus", "--device")) or "nvidia" in one for one in arguments)
    return "runArgs" if given else ""


def _built(work: Workload, data: dict[str, Any]) -> None:
    """The Dockerfile that is built, named beside devcontainer.json."""
    build = data.get("build")
    told = build if isinstance(build, dict) else {}
    file = told.get("dockerfile") or told.get("dockerFile") or data.get("dockerFile")
    arguments = told.get("args")
    if isinstance(file, str):
        work.built = file
        work.target = str(told.get("target", ""))
        work.arguments = {str(k): str(v) for k, v in arguments.items()} if isinstance(arguments, dict) else {}


def _line(text: str, key: str) -> int:
    at = text.find(key)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
