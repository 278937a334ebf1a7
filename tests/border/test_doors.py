"""The doors of agents, jobs and pull requests, attacked: what fuzz/doors.py found, and would find again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.border.alias import Alias, accounts
from gpuwhy.border.secrets import Redactor
from gpuwhy.mcp.protocol import Message
from gpuwhy.mcp.server import Call, Server
from gpuwhy.fleet.ranks.job import Job, Rank, Xid, contract, without_hosts

ROOT = Path(__file__).parents[2]


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
    text = json.dumps(contract(without_hosts(job)))
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
