"""Stated: what releases state of each other in their metadata, for the packages that go with a framework.

    python -m tools.harvest.stated          # writes knowledge/data/stated.json

Only METADATA is read: beside the wheel where the index serves it, else from the wheel's own directory.
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web, WebError
from tools.harvest.wheel import BrokenWheel, Wheel

OUT = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data/stated.json"
PROJECTS = (
    "jax",
    "jaxlib",
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "flax",
    "optax",
    "tf-keras",
    "tensorflow-text",
    "tensorflow-io",
    "tensorflow-addons",
    "tensorflow-probability",
    "tensorflow-decision-forests",
    "torchtext",
    "torchdata",
    "torchao",
    "torchrl",
    "tensordict",
    "torch-tensorrt",
    "xformers",
    "transformers",
    "numba",
    "onnxruntime-gpu",
    "onnxruntime",
    "bitsandbytes",
    "keras",
    "tensorflow",
    "torch",
    "torchvision",
    "torchaudio",
    "vllm",
    "keras-hub",
    "keras-cv",
    "keras-nlp",
    "accelerate",
    "diffusers",
    "scipy",
    "numba-cuda",
)
NOTHING = ("keras-cv",)
"""Projects that state nothing of OTHERS."""
OTHERS = re.compile(
    r"jax|jaxlib|jax-cuda\d+-(plugin|pjrt)|flax|optax|chex|tensorflow(-\w+)*|tf-keras|keras|tensorboard|torch|torchvision"
    r"|torchaudio|torchtext|torchdata|torchao|tensordict|triton|pytorch-triton|xformers|vllm|flash-attn|numpy|scipy|protobuf"
    r"|ml-dtypes|transformers|tokenizers|huggingface-hub|accelerate|diffusers|peft|numba|llvmlite|numba-cuda|onnx"
    r"|onnxruntime(-gpu)?|pandas|bitsandbytes|ctranslate2"
)
OWN_EXTRAS = re.compile(r"jax-cuda\d+-(plugin|pjrt)|tensorflow|tensorflow-cpu|tensorflow-gpu")
"""What an extra asks for counts where nobody installs it for another reason."""


def main() -> int:
    """Read every project and write the table."""
    web, index = Web(), address()
    found = {}
    for project in PROJECTS:
        rows = _project(web, index, project)
        print(project, len(rows), file=sys.stderr, flush=True)
        if bool(rows) == (project in NOTHING):
            print(f"{project}: {len(rows)} rows: the index did not answer, or NOTHING is wrong", file=sys.stderr)
            return 1
        if rows:
            found[project] = rows
    text = ",\n".join(f"{json.dumps(name)}:{json.dumps(rows, separators=(',', ':'))}" for name, rows in found.items())
    OUT.write_text(f'{{"schema":"gpuwhy.knowledge.stated/1","packages":{{\n{text}\n}}}}\n')
    return 0


def _project(web: Web, index: str, project: str) -> list[list[object]]:
    """[[versions…, stated]…]: releases in order, neighbours that state the same in one row."""
    wheels: dict[Version, IndexFile] = {}
    for one in files(web, index, project) or ():
        try:
            _, version, _, tags = parse_wheel_filename(one.name)
        except InvalidWheelFilename:
            continue
        linux = any(t.platform == "any" or "linux" in t.platform for t in tags)
        if linux and not version.is_prerelease and not version.is_devrelease:
            wheels[version] = one
    with ThreadPoolExecutor(8) as pool:
        stated = list(pool.map(lambda v: _stated(web, wheels[v], project), sorted(wheels)))
    rows: list[list[object]] = []
    for version, said in zip(sorted(wheels), stated, strict=True):
        if said is None:
            continue
        if rows and rows[-1][1] == said:
            rows[-1][0] = [*rows[-1][0], str(version)]  # type: ignore[misc]
        else:
            rows.append([[str(version)], said])
    return [row for row in rows if row[1]]


def _stated(web: Web, wheel: IndexFile, project: str) -> dict[str, list[str]] | None:
    text = metadata(web, wheel)
    if text is None:
        return None
    out: dict[str, list[str]] = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        if line.startswith("Requires-Dist: "):
            _add(out, line.removeprefix("Requires-Dist: "), project)
    return out


def metadata(web: Web, wheel: IndexFile) -> str | None:
    """The METADATA file: beside the wheel where the index has it, else out of the wheel."""
    try:
        got = web.page(wheel.url + ".metadata", "*/*")
        if got is not None:
            return got[1].decode("utf-8", "replace")
        inside = Wheel(web, wheel.url)
        name = next((n for n in inside.members if n.endswith(".dist-info/METADATA") and n.count("/") == 1), "")
        return inside.read(name).decode("utf-8", "replace") if name else None
    except (WebError, BrokenWheel):
        return None


def _add(out: dict[str, list[str]], text: str, project: str) -> None:
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return
    name, marker = canonicalize_name(wanted.name), str(wanted.marker or "")
    if name == project or not OTHERS.fullmatch(name) or not wanted.specifier:
        return
    if "extra" in marker:
        if not OWN_EXTRAS.fullmatch(name) or not project.startswith(name[:3]):
            return
        marker = ""
    said = str(wanted.specifier) + (f"; {marker}" if marker else "")
    if said not in out.setdefault(name, []):
        out[name].append(said)


if __name__ == "__main__":
    sys.exit(main())
