"""Builds what the placeholders of a call name, in the call's own folder."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.signs import test_hosts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
PLACEHOLDER = re.compile(r"\{(in|host|tree|oci|tar|zip):([^}]+)\}")


def filled(text: str, work: Path) -> str:
    """The text with each placeholder built below `work` and replaced by its name there."""
    return PLACEHOLDER.sub(lambda found: MAKERS[found[1]](found[2], work), text)


def _copied(name: str, work: Path) -> str:
    """A file or folder of inputs/, as the call's own copy; 'a/b.txt=c.txt' renames it."""
    source, _, target = name.partition("=")
    target = target or Path(source).name
    (work / target).parent.mkdir(parents=True, exist_ok=True)
    if (INPUTS / source).is_dir():
        shutil.copytree(INPUTS / source, work / target, dirs_exist_ok=True)
    else:
        shutil.copyfile(INPUTS / source, work / target)
    return target


def _recording(name: str, work: Path) -> str:
    """A host of tests/hosts as one recording; 'NAME+run.json' adds a watched run."""
    host, _, run = name.partition("+")
    (work / f"{host}.json").write_bytes(_merged(host, run))
    return f"{host}.json"


@cache
def _merged(name: str, run: str) -> bytes:
    options, answers = test_hosts.answers(name)
    whole = {"schema": "gpuwhy.record/1", "gpuwhy": "0.1.0", "options": options, "answers": answers}
    more = {"run": json.loads((INPUTS / run).read_bytes())} if run else {}
    return json.dumps({**whole, **more}).encode()


@cache
def table(file: Path) -> dict[str, Any]:
    """A TOML file."""
    made: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    return made


def _trees() -> dict[str, Any]:
    return table(INPUTS / "trees.toml")


def _files(name: str) -> dict[str, bytes]:
    """The files of a tree by path; '@bin/…' is a file of inputs/."""
    rows = {path: text for path, text in _trees()[name].items() if path != "@image"}
    return {path: _content(text) for path, text in sorted(rows.items())}


def _content(text: str) -> bytes:
    return (INPUTS / text[1:]).read_bytes() if text.startswith("@") else text.encode()


def _tree(name: str, work: Path) -> str:
    for path, data in _files(name).items():
        target = work / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(0o755 if "/bin/" in f"/{path}" else 0o644)
    return name


def _tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(data), 0o755 if "/bin/" in f"/{path}" else 0o644
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _layout(names: str) -> dict[str, bytes]:
    """An OCI layout with an image of one layer for each tree, 'cudnn+cpu' for two."""
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def blob(kind: str, data: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        files[f"blobs/sha256/{digest}"] = data
        media = f"application/vnd.oci.image.{kind}"
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}

    rows = []
    for name in names.split("+"):
        settings = blob("config.v1+json", _config(name))
        layers = [blob("layer.v1.tar", _tar(_files(name)))]
        body = {"schemaVersion": 2, "config": settings, "layers": layers}
        row = blob("manifest.v1+json", json.dumps(body).encode())
        rows.append({**row, "annotations": {"org.opencontainers.image.ref.name": f"{name}:1"}})
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": rows}).encode()
    return files


def _config(name: str) -> bytes:
    settings = _trees()[name].get("@image", {})
    return json.dumps({"os": "linux", "architecture": "amd64", "config": settings}).encode()


def _oci(names: str, work: Path) -> str:
    for path, data in _layout(names).items():
        (work / "layout" / path).parent.mkdir(parents=True, exist_ok=True)
        (work / "layout" / path).write_bytes(data)
    return "layout"


def _saved(name: str, work: Path) -> str:
    """What `docker save` writes."""
    row = {"Config": "config.json", "RepoTags": [f"{name}:1"], "Layers": ["1/layer.tar"]}
    manifest = json.dumps([row]).encode()
    layer = {"config.json": _config(name), "1/layer.tar": _tar(_files(name))}
    (work / f"{name}.tar").write_bytes(_tar({**layer, "manifest.json": manifest}))
    return f"{name}.tar"


def _zip(name: str, work: Path) -> str:
    """A tree as a zip file, such as a wheel; the tree's name is the file's."""
    with zipfile.ZipFile(work / name, "w") as archive:
        for path, data in _files(name).items():
            archive.writestr(zipfile.ZipInfo(path), data)
    return name


MAKERS = {"in": _copied, "host": _recording, "tree": _tree, "oci": _oci, "tar": _saved, "zip": _zip}
