"""Images for tests: layers as tar files, OCI layouts, `docker save` archives."""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

MEDIA = "application/vnd.oci.image"


def entry(name: str, data: bytes | None = None, **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A file with `data`; a folder without; or what `type` says."""
    info = tarfile.TarInfo(name)
    info.type = tarfile.REGTYPE if data is not None else tarfile.DIRTYPE
    info.mode = 0o644 if data is not None else 0o755
    info.mtime = 1_700_000_000
    info.size = len(data or b"")
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data or b""


def link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.SYMTYPE, linkname=target, mode=0o777)


def hard(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.LNKTYPE, linkname=target, mode=0o644)


def layer(*entries: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def config(env: list[str] | None = None, architecture: str = "amd64", **more: Any) -> bytes:
    return json.dumps({"os": "linux", "architecture": architecture, "config": {"Env": env, **more}}).encode()


class Layout:
    """The files of an OCI layout, by name."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}
        self._manifests: list[dict[str, Any]] = []

    def blob(self, data: bytes, media: str = "") -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}

    def add(self, name: str, config: bytes, *layers: bytes) -> dict[str, Any]:
        body = {
            "schemaVersion": 2,
            "config": self.blob(config, f"{MEDIA}.config.v1+json"),
            "layers": [self.blob(one, f"{MEDIA}.layer.v1.tar") for one in layers],
        }
        row = self.blob(json.dumps(body).encode(), f"{MEDIA}.manifest.v1+json")
        row["annotations"] = {"org.opencontainers.image.ref.name": name}
        self._manifests.append(row)
        self.files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": self._manifests}).encode()
        return row

    def folder(self, where: Path) -> Path:
        for name, data in self.files.items():
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            (where / name).write_bytes(data)
        return where

    def archive(self, where: Path) -> Path:
        where.write_bytes(layer(*(entry(name, data) for name, data in self.files.items())))
        return where


def oci(where: Path, *layers: bytes, env: list[str] | None = None, packed: bool = False, **more: Any) -> Path:
    """A layout folder with one image."""
    layout = Layout()
    layout.add("mine:1", config(env, **more), *(gzip.compress(one, 1) if packed else one for one in layers))
    return layout.folder(where)


def saved(where: Path, *layers: bytes, env: list[str] | None = None, packed: bool = False) -> Path:
    """A `docker save` archive of the old form: a second, equal layer is a link to the first."""
    rows, files, seen = [], [entry("c.json", config(env))], {}
    for number, data in enumerate(layers):
        name = f"{number}/layer.tar"
        rows.append(name)
        files.append(link(name, f"../{seen[data]}") if data in seen else entry(name, data))
        seen.setdefault(data, name)
    manifest = [{"Config": "c.json", "RepoTags": ["mine:1"], "Layers": rows}]
    data = layer(*files, entry("manifest.json", json.dumps(manifest).encode()))
    where.write_bytes(gzip.compress(data, 1) if packed else data)
    return where
