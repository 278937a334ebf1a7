"""The doors of agents, jobs, updates and pull requests, attacked: what fuzz/doors.py found, and would find again."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gpuwhy.border import ed25519
from gpuwhy.border.alias import Alias, accounts
from gpuwhy.border.secrets import Redactor
from gpuwhy.cli import UsageError
from gpuwhy.cli import update as command
from gpuwhy.knowledge import update
from gpuwhy.mcp.protocol import Message
from gpuwhy.mcp.server import Call, Server
from gpuwhy.model.ranks import Job, Rank, Xid
from gpuwhy.render.ranks import render_json

ROOT = Path(__file__).parents[2]
NEWER = ROOT / "tests" / "knowledge" / "update" / "newer.zip"


@pytest.mark.parametrize("number", [[1], {}, None, True, 1.5])
def test_a_cancellation_of_nothing_ends_no_server(number):
    sent: list[bytes] = []
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    Server(sent.append).serve([line.encode(), b'{"jsonrpc":"2.0","id":1,"method":"ping"}'])
    assert [json.loads(one)["result"] for one in sent] == [{}]


def test_a_line_that_is_not_utf_8_ends_no_server():
    sent: list[bytes] = []
    Server(sent.append).serve(
        [b'{"jsonrpc":"2.0","id":1,"meth\x97":"ping"}', b'{"jsonrpc":"2.0","id":2,"method":"ping"}']
    )
    assert [set(json.loads(one)) & {"error", "result"} for one in sent] == [{"error"}, {"result"}]


def test_what_a_program_prints_as_a_note_is_short_and_without_secrets():
    sent: list[bytes] = []
    call = Call(Message("tools/call", {"_meta": {"progressToken": 1}}, 1), sent.append)
    call.note("export HF_TOKEN=hf_" + "aB3" * 12 + " in /home/zaphod/x \x1b[31m" + "y" * 5000)
    assert b"hf_aB3" not in sent[0]
    assert b"zaphod" not in sent[0]
    assert b"\\u001b" not in sent[0]
    assert len(sent[0]) < 400


def test_a_page_of_a_job_numbers_its_nodes():
    ranks = (
        Rank("heart7/rank 0", 0, "failed", host="heart7", text="on heart7 it ended"),
        Rank("rank 1", 1, "silent", host="gold8.site.edu"),
    )
    job = Job(ranks, (0,), "heart7 and gold8.site.edu", xids=(Xid(79, "heart7", "01", "x"),))
    text = render_json(job, hosts=False)
    assert "heart7" not in text
    assert "gold8" not in text
    assert "node-1 and node-2" in text


@pytest.mark.parametrize("text", ["/mnt/x?token={}:~/lib", "--xla_token={}", "key={}"])
@pytest.mark.parametrize("word", ["xZlNUPBkKCguDS2d", "wNdjylZL2c"])
def test_drawn_words_with_one_digit(text, word):
    assert word not in Redactor().hide(text.format(word))


@pytest.mark.parametrize("word", ["Qwen2ForCausalLM", "GPT2LMHeadModel", "input_ids", "LlamaTokenizerFast", "float16"])
def test_names_of_things_after_weak_words_stay(word):
    assert word in Redactor().hide(f"tokens={word} key={word}")


@pytest.mark.parametrize(
    "path",
    ["/scratch/{}/t.py", "/scratch1/users/{}/x", "/homes/{}/x", "/home2/{}/x", "/afs/site.edu/user/z/{}/x"],
)
def test_folders_that_sites_give_to_people(path):
    alias = Alias()
    shown = alias.hide(path.format("zaphod"))
    assert "zaphod" not in shown
    assert alias.path(shown) == path.format("zaphod")


@pytest.mark.parametrize(
    "path", ["/scratch/envs/x/lib", "/scratch/torch-2.5/lib", "/scratch/shared/x", "/scratch/x.so"]
)
def test_folders_of_things_stay(path):
    assert Alias().hide(path) == path


def test_accounts_are_people(tmp_path):
    rows = ("root:x:0:0::/root:", "zaphod:x:1000:1000::/home/zaphod:", "bo:x:1001:1::/:", "nobody:x:65534:1::/:", "bad")
    (tmp_path / "passwd").write_text("\n".join(rows))
    assert accounts(str(tmp_path / "passwd")) == ("zaphod",)


def odd_zip(method: int, flags: int = 0) -> bytes:
    """An update whose first member says that it is packed in another way."""
    data = bytearray(NEWER.read_bytes())
    middle = data.find(b"PK\x01\x02")
    data[8], data[middle + 10] = method, method
    data[6], data[middle + 8] = flags, flags
    return bytes(data)


@pytest.mark.parametrize("data", [odd_zip(99), odd_zip(14), odd_zip(12), odd_zip(8, 1), b"PK\x05\x06" + bytes(18), b""])
def test_a_kept_update_that_is_damaged_stops_nothing(data, tmp_path, monkeypatch, capsys):
    (tmp_path / "releases.zip").write_bytes(data)
    monkeypatch.setenv("GPUWHY_DATA", str(tmp_path))
    command.use()
    assert "is not used" in capsys.readouterr().err


def test_rows_that_were_damaged_after_they_were_kept():
    packed = zipfile.ZipFile(io.BytesIO(NEWER.read_bytes()))
    place = packed.getinfo("triton.jsonl").header_offset + 200
    data = bytearray(NEWER.read_bytes())
    data[place] ^= 255
    with pytest.raises(update.BadUpdateError, match="damaged"):
        update.reader(bytes(data))("triton.jsonl")


def test_an_update_says_one_date():
    parts = update.files(NEWER.read_bytes())
    with pytest.raises(update.BadUpdateError, match="same day"):
        update.checked(update.packed(parts, "2099-01-01T00:00:00Z", "2099-02-01"))


def test_an_older_one_of_the_same_day_is_refused_and_only_one_writes_at_a_time(tmp_path, monkeypatch):
    import argparse

    monkeypatch.setenv("GPUWHY_DATA", str(tmp_path))
    parts = update.files(NEWER.read_bytes())
    (tmp_path / "releases.zip").write_bytes(update.packed(parts, "2099-06-01T00:00:00Z", "2099-01-01"))
    asked = argparse.Namespace(update=str(NEWER), key=str(NEWER.parent / "key.pub"), signature="")
    with pytest.raises(UsageError, match="made on"):
        command.go(asked)
    with command._alone(), pytest.raises(UsageError, match="another gpuwhy"):
        command.go(asked)


def test_a_key_that_every_signature_fits_is_none():
    one = b"\x01" + bytes(31)
    assert not ed25519.verified(one, b"anything", one + bytes(32))


def test_run_keeps_the_program_s_code_where_a_file_cannot_be_written(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    argv = [
        sys.executable,
        "-m",
        "gpuwhy",
        "run",
        "--json",
        "pipe",
        "--html",
        "page.html",
        "--",
        "/bin/sh",
        "-c",
        "exit 7",
    ]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 7
    assert "cannot write pipe" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "page.html").exists(), "the other files are written all the same"
