"""SageMaker: the images and estimators of a Python file, with the requirements of their folders; nothing is run."""

from __future__ import annotations

import ast
import re

from gpuwhy.lint.sheet import Environment, Image, Include, Sheet, Workload
from gpuwhy.lint.trees import parsed
from gpuwhy.model.lint import Place, Problem

_CHARACTERS = 500_000
_GPU_MACHINE = re.compile(r"ml\.(g\d|p\d)\w*\.\w+")
_IMAGE = re.compile(r"[\w.-]+\.amazonaws\.com(\.cn)?/[\w./-]+:[\w.-]+")
_FRAMEWORKS = {
    "PyTorch": "pytorch-training",
    "PyTorchModel": "pytorch-inference",
    "TensorFlow": "tensorflow-training",
    "TensorFlowModel": "tensorflow-inference",
    "HuggingFace": "huggingface-{}-training",
    "HuggingFaceModel": "huggingface-{}-inference",
}
"""Classes of the SDK, and the image that each starts."""


def read(path: str, text: str) -> Sheet:
    """Every call that names an image, or a framework's release for which SageMaker has one."""
    sheet = Sheet(path, "sagemaker")
    try:
        tree = parsed(text[:_CHARACTERS])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        sheet.problems.append(Problem(Place(path, getattr(error, "lineno", 0) or 0), f"no Python: {error}"))
        return sheet
    known = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _call(sheet, node, known)
    return sheet


def _constants(tree: ast.Module) -> dict[str, str]:
    """Names that are given one text, once."""
    found: dict[str, list[str | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            found.setdefault(node.targets[0].id, []).append(value if isinstance(value, str) else None)
    return {name: values[0] for name, values in found.items() if len(values) == 1 and values[0] is not None}


def _call(sheet: Sheet, call: ast.Call, known: dict[str, str]) -> None:
    told = {k.arg: k.value for k in call.keywords if k.arg}
    texts = {key: text for key, node in told.items() if (text := _text(node, known))}
    machine = texts.get("instance_type", "")
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    at = Place(sheet.path, told["image_uri"].lineno if "image_uri" in told else call.lineno)
    image = texts.get("image_uri", "") if "image_uri" in told else _of_class(name, texts, machine)
    if not image or ("image_uri" in told and not _IMAGE.fullmatch(image)):
        return
    if machine and "image_uri" in told:
        asked = Place(sheet.path, told["instance_type"].lineno) if _GPU_MACHINE.fullmatch(machine) else None
        sheet.workloads.append(Workload("sagemaker", name, at, Image(image, at), request=asked, shared_memory=True))
    _environment(sheet, call, texts, Image(image, at))


def _of_class(name: str, texts: dict[str, str], machine: str) -> str:
    """The image that a framework's class starts; '' where its release is not told."""
    framework = "pytorch" if "pytorch_version" in texts else "tensorflow"
    version = texts.get("framework_version") or texts.get(f"{framework}_version", "")
    python = texts.get("py_version", "")
    if name not in _FRAMEWORKS or not re.fullmatch(r"\d+\.\d+(\.\d+)?", version) or not re.match(r"ml\.", machine):
        return ""
    kind = "gpu" if _GPU_MACHINE.fullmatch(machine) else "cpu"
    return f"{_FRAMEWORKS[name].format(framework)}:{version}-{kind}" + (f"-{python}" if python else "")


def _environment(sheet: Sheet, call: ast.Call, texts: dict[str, str], image: Image) -> None:
    """What runs in it: the image, and the requirements of the folder that is sent."""
    stage = Environment(sheet.path, system="linux", image=image)
    python = re.search(r"\bpy3(\d+)\b", image.text)
    if python:
        stage.pythons, stage.python_from = (f"3.{python[1]}",), f"the image holds Python 3.{python[1]}"
    folder = texts.get("source_dir", "")
    if folder and "://" not in folder:
        stage.includes.append(
            Include(f"{folder.rstrip('/')}/requirements.txt", Place(sheet.path, call.lineno), must=False)
        )
    sheet.environments.append(stage)


def _text(node: ast.expr, known: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
