"""Hostile and damaged files: a sentence, nothing executed, little memory, no long wait."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import struct
import zipfile
from pathlib import Path

import pytest

from gpuwhy.fit import Unreadable, read

FILES = Path(__file__).parent / "files"


def refused(path: Path | str) -> str:
    with pytest.raises(Unreadable) as found:
        read(str(path))
    text = str(found.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


class Calls:
    """What unpickling would call."""

    def __init__(self, function, *args) -> None:
        self.made = (function, args)

    def __reduce__(self):
        return self.made


def archive(folder: Path, data: bytes, method: int = zipfile.ZIP_STORED) -> Path:
    path = folder / "model.pt"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("model/data.pkl", data)
    return path


@pytest.mark.parametrize(
    "function, args, name",
    [
        (os.system, ("touch pwned",), "system"),
        (eval, ("1",), "eval"),
        (__import__("subprocess").Popen, (["true"],), "Popen"),
        (getattr, ("x", "y"), "getattr"),
        (pickle.loads, (b"N.",), "loads"),
        (__import__("runpy").run_path, ("x",), "runpy.run_path"),
        (__import__("functools").partial, (print,), "functools.partial"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_pickle_that_would_run_code_is_refused(tmp_path, monkeypatch, function, args, name, protocol):
    monkeypatch.chdir(tmp_path)
    said = refused(archive(tmp_path, pickle.dumps({"weight": Calls(function, *args)}, protocol)))
    assert "do not load it" in said
    assert name in said
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "data, said",
    [
        (b"ctorch.hub\nload\n(X\x01\x00\x00\x00ltR.", "torch.hub.load"),
        (b"cnumpy.testing._private.utils\nrunstring\n(X\x01\x00\x00\x00ltR.", "runstring"),
        (b"cdill._dill\n_create_function\n)R.", "dill._dill._create_function"),
        (b"(ios\nsystem\nX\x01\x00\x00\x00l.", "os.system"),
        (b"(X\x01\x00\x00\x00lios\nsystem\n.", "os.system"),
        (b"(cos\nsystem\nX\x01\x00\x00\x00lo.", "os.system"),
        (b"}}R.", "made itself"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f.", "longer than any real"),
        (b"X\xff\xff\xff\xff.", "claims"),
        (b"\x80\x02}q\x00h\x63.", "makes no sense"),
        (b"\x82\x01.", "not a pickle"),
        (b"(" * 100, "past the end"),
        (b"", "past the end"),
    ],
)
def test_damaged_and_clever_pickles(tmp_path, data, said):
    assert said in refused(archive(tmp_path, data))


def test_metadata_that_would_run_code_is_refused(tmp_path):
    (tmp_path / ".metadata").write_bytes(pickle.dumps(Calls(os.system, "true"), 4))
    assert "do not load it" in refused(tmp_path)


def test_values_that_hold_themselves_end(tmp_path):
    held: list[object] = []
    held.append(held)
    wide: tuple[object, ...] = ()
    for _ in range(60):  # 2⁶⁰ leaves, were each looked at
        wide = (wide, wide)
    assert read(str(archive(tmp_path, pickle.dumps({"a": held, "b": wide}, 2)))).tensors == ()


def test_storages_must_be_in_the_archive(tmp_path):
    with zipfile.ZipFile(FILES / "tied.pt") as whole, zipfile.ZipFile(tmp_path / "cut.pt", "w") as cut:
        for name in whole.namelist():
            if "/data/0" not in name:
                cut.writestr(name, whole.read(name))
    assert "not in the archive" in refused(tmp_path / "cut.pt")


def test_an_archive_that_swells_is_refused(tmp_path):
    assert "nested deeper" in refused(archive(tmp_path, b"N" * (1 << 20) + b".", zipfile.ZIP_DEFLATED))


def header(values: object) -> bytes:
    data = json.dumps(values).encode()
    return struct.pack("<Q", len(data)) + data


@pytest.mark.parametrize(
    "data, said",
    [
        (header({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}), "cut short"),
        (header({n: {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]} for n in "ab"}) + b"x", "upon each other"),
        (header({"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 0]}}), "more elements"),
        (header({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 0]}}), "no count"),
        (header({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 4]}}) + bytes(4), "needs 12 bytes"),
        (header({"a": {"dtype": "F32", "shape": [1] * 99, "data_offsets": [0, 4]}}) + bytes(4), "99 dimensions"),
        (header({"a": 3}), "not the JSON"),
        (struct.pack("<Q", 9) + b'{"a": {"d', "not the JSON"),
        (struct.pack("<Q", 200_000) + b"{" + b'"a":{' * 40_000 + b" " * 100, "not the JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "Git LFS"),
        (b"<html><body>404</body></html>" * 9, "no format"),
        (b"", "empty"),
    ],
)
def test_damaged_safetensors(tmp_path, data, said):
    (tmp_path / "model.safetensors").write_bytes(data)
    assert said in refused(tmp_path / "model.safetensors")


def gguf(count: int, keys: int, body: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, count, keys) + body


@pytest.mark.parametrize(
    "data, said",
    [
        (gguf(2**60, 0), "tensors"),
        (gguf(0, 2**60), "keys"),
        (gguf(0, 1, struct.pack("<Q", 2**62)), "claims"),
        (gguf(0, 1, struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 8, 2**50)), "past the end"),
        (gguf(0, 1, struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 6, 2**60)), "past the end"),
        (gguf(0, 1, struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 9, 2**50)), "arrays in an array"),
        (gguf(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 33, 2, 0)), "blocks of 32"),
        (gguf(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<I", 2**31)), "dimensions"),
        (gguf(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 64, 2, 0)), "still downloading"),
        (b"GGUF" + struct.pack("<I", 1), "version 1"),
    ],
)
def test_damaged_gguf(tmp_path, data, said):
    (tmp_path / "m.gguf").write_bytes(data)
    assert said in refused(tmp_path / "m.gguf")


def test_a_cut_file_of_every_format_is_a_sentence(tmp_path):
    for name in (
        "types.safetensors",
        "types.gguf",
        "types.onnx",
        "types.pt",
        "legacy.pt",
        "half.keras",
        "new.h5",
        "old.h5",
        "training.index",
    ):
        data = (FILES / name).read_bytes()
        for part in (1, 9, len(data) // 3, len(data) * 2 // 3):
            (tmp_path / name).write_bytes(data[:part])
            with contextlib.suppress(Unreadable):  # a cut may fall behind the last header
                read(str(tmp_path / name))


@pytest.mark.parametrize(
    "file", ["../../secret.safetensors", "/etc/passwd", "a/../../b", "C:/x", "x\0y", "\\\\host\\share"]
)
def test_an_index_names_nothing_outside_its_folder(tmp_path, file):
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": file}}))
    assert "not below its own folder" in refused(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")
def test_pipes_and_folders_in_place_of_files(tmp_path):
    os.mkfifo(tmp_path / "model.safetensors")
    assert "pipe" in refused(tmp_path)
    assert "neither a file nor a folder" in refused(tmp_path / "model.safetensors")
    assert "there is nothing" in refused(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert "no model in this folder" in refused(tmp_path / "empty")


@pytest.mark.parametrize(
    "head",
    [
        gguf(0, 1, struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 6, 2**50)),
        b"\x08\x07\x3a\x80\x80\x80\x80\x80\x80\x20" + b"\x2a\x10" * 9,
        b"\x89HDF\r\n\x1a\n\x02\x08\x08" + bytes(40),
        struct.pack("<Q", 1 << 39) + b"{",
    ],
)
def test_a_sparse_file_of_a_terabyte_is_answered_at_once(tmp_path, head):
    with (tmp_path / "model.onnx").open("wb") as file:
        file.write(head)
        try:
            file.truncate(1 << 40)
        except OSError:
            pytest.skip("this file system has no large sparse files")
    refused(tmp_path / "model.onnx")


def test_layers_without_end_in_a_config(tmp_path):
    values = {
        "model_type": "albert",
        "hidden_size": 8,
        "vocab_size": 8,
        "num_hidden_groups": 9999,
        "inner_group_num": 9999,
    }
    more = {"embedding_size": 4, "type_vocab_size": 2, "max_position_embeddings": 8, "num_attention_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps(values | more))
    assert any("more tensors than any real model" in said for said in read(str(tmp_path)).unknown)


def test_io_is_only_what_is_asked_for():
    """Headers of a few kilobytes, however large the file says its tensors are."""
    from gpuwhy.fit.readers.protobuf import Wire
    from gpuwhy.fit.source import Budget, Source

    asked: list[int] = []
    data = b"\x0a" + b"\x80\x80\x80\x80\x10"  # one field of 2³² bytes

    def pread(offset: int, size: int) -> bytes:
        asked.append(size)
        return io.BytesIO(data).read()[offset : offset + size].ljust(size, b"\0")

    fields = list(Wire(Source(pread, 6 + 2**32, Budget())).fields(0, 6 + 2**32))
    assert [one.length for one in fields] == [2**32]
    assert sum(asked) < 1 << 17
