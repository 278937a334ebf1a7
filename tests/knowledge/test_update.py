"""Newer knowledge from a signed file: RFC 8032, the real minisign, what is refused, what is kept."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.border import ed25519, minisign
from gpuwhy.cli import UsageError
from gpuwhy.cli import update as command
from gpuwhy.knowledge import releases, update

HERE = Path(__file__).parent / "update"
RFC_8032 = [
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
    ("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
]  # fmt: skip


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_the_vectors_of_the_standard(public, message, signature):
    key, text, made = (bytes.fromhex(one) for one in (public, message, signature))
    assert ed25519.verified(key, text, made)
    for place in (0, 31, 32, 63):
        wrong = bytearray(made)
        wrong[place] ^= 1
        assert not ed25519.verified(key, text, bytes(wrong))
    assert not ed25519.verified(key, text + b"x", made)
    higher = int.from_bytes(made[32:], "little") + ed25519._L
    assert not ed25519.verified(key, text, made[:32] + higher.to_bytes(32, "little")), "written otherwise"


def test_signatures_of_the_real_tool():
    data, key = (HERE / "newer.zip").read_bytes(), minisign.public_key((HERE / "key.pub").read_text())
    assert minisign.check(data, (HERE / "newer.zip.minisig").read_text(), key) == "gpuwhy test"
    assert minisign.check(data, (HERE / "newer.legacy.minisig").read_text(), key) == "legacy"
    comment = (HERE / "newer.zip.minisig").read_text().replace("gpuwhy test", "something else")
    with pytest.raises(minisign.BadSignatureError, match="comment was changed"):
        minisign.check(data, comment, key)


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUWHY_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def taken(path, key="key.pub", signature=""):
    named = str(HERE / key) if key else ""
    return command.go(argparse.Namespace(update=str(path), key=named, signature=signature))


def refused(said, *args, **more):
    with pytest.raises(UsageError) as told:
        taken(*args, **more)
    assert said in str(told.value)


def test_what_is_refused_leaves_nothing(data_folder, tmp_path):
    refused("whose signature?", HERE / "newer.zip", key="")
    refused("signed with another key", HERE / "newer.zip", key="other.pub")
    refused("knows releases up to 2020-01-01", HERE / "older.zip")
    refused("does not fit the file", HERE / "older.zip", signature=str(HERE / "newer.zip.minisig"))
    shutil.copy(HERE / "newer.zip", tmp_path / "u.zip")
    refused("cannot read", tmp_path / "u.zip")
    (tmp_path / "u.zip.minisig").write_text("untrusted comment: x\nAAAA\n")
    refused("no signature of minisign", tmp_path / "u.zip")
    refused("only https://", "http://example.org/u.zip")
    assert not data_folder.exists()


def test_an_update_is_used_by_later_runs_and_a_damaged_one_is_not(data_folder):
    assert taken(HERE / "newer.zip") == 0
    assert taken(HERE / "newer.zip", key="") == 0, "the key of the last update is known"
    argv = [sys.executable, "-m", "gpuwhy", "releases"]
    assert subprocess.run(argv, capture_output=True, timeout=60).stdout.split() == [b"triton"]
    (data_folder / "releases.zip").write_bytes(b"PK")
    done = subprocess.run([*argv], capture_output=True, timeout=60)
    assert b"torch" in done.stdout.split()
    assert b"is not used" in done.stderr


def test_a_hostile_update_is_bounded():
    good = update.files((HERE / "newer.zip").read_bytes())
    with pytest.raises(update.BadUpdateError, match="list of files"):
        update.checked(update.packed({**good, "../evil.json": b"{}"}, "2099-01-01T00:00:00Z", "2099-01-01"))
    with pytest.raises(update.BadUpdateError, match="rows that this gpuwhy cannot read"):
        update.checked(update.packed({**good, "triton.jsonl": b"{}\n{}\n"}, "2099-01-01T00:00:00Z", "2099-01-01"))
    bomb = update.packed({**good, "big.json": bytes(1 << 20)}, "2099-01-01T00:00:00Z", "2099-01-01")
    most, update.MOST_BYTES = update.MOST_BYTES, 1 << 19
    try:
        with pytest.raises(update.BadUpdateError, match="more than an update may"):
            update.checked(bomb)
    finally:
        update.MOST_BYTES = most


def test_the_date_of_the_knowledge_is_that_of_its_files():
    assert releases.newest() == max(one.newest for one in releases.headers())
