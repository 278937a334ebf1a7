"""One line a node: what is in it, what is not, and what a hostile one can do (nothing)."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.answer import terminal
from gpuwhy.fleet.compare import compare
from gpuwhy.fleet.read import BadLineError, decoded, encoded
from gpuwhy.fleet.read import Heard, label_of, of_lines
from gpuwhy.fleet.report import document
from tests.fleet import nodes


def test_it_is_one_line_with_everything_that_is_compared():
    text = nodes.line()
    assert text.count("\n") == 1
    value = json.loads(text)
    assert value["schema"] == "gpuwhy.node/1"
    assert value["report"]["schema"] == "gpuwhy.report/1"
    facts = value["facts"]
    assert facts["gpu.names"] == "1 × NVIDIA H200"
    assert facts["driver.version"] == "580.159.04"
    assert facts["lib.nccl"] == "2.28.9"
    assert facts["package.torch"] == "2.11.0"
    assert "net.interfaces" in value["unseen"], "the recording does not hold it: it is not none"


def test_secrets_and_names_of_people_stay_at_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/waldemar")
    monkeypatch.setenv("USER", "waldemar")
    facts = {
        "env.HF_TOKEN": "hf_abcdefghijklmnopqrstuvwxyz0123456789",
        "env.LD_LIBRARY_PATH": "/home/waldemar/lib",
    }
    text = encoded("n", 1.0, {"headline": "see /home/waldemar/x"}, facts, [])
    assert "waldemar" not in text
    assert "hf_abcdefghijklmnop" not in text


HOSTILE = [
    b"",
    b"{}",
    b"[]",
    b'{"schema": "gpuwhy.node/1"}',
    b'{"schema": "gpuwhy.node/2", "node": "a"}',
    b'{"schema": "gpuwhy.node/1", "node": 7}',
    b'{"schema": "gpuwhy.node/1", "node": "a", "facts": []}',
    b'{"schema": "gpuwhy.node/1", "node": "a", "facts": {"gpu.count": {"a": 1}}}',
    b'{"schema": "gpuwhy.node/1", "node": "a", "time": 1e999}',
    b'{"schema": "gpuwhy.node/1", "node": "a", "facts": {"gpu.count": ' + b"9" * 5000 + b"}}",
    b'{"schema": "gpuwhy.node/1", "node": "a", "report": ' + b"[" * 100_000,
    b'{"schema": "gpuwhy.node/1", "node": "a", "other": ' + b'{"a":' * 100_000,
    b'{"schema": "gpuwhy.node/1", "node": "a", "facts": {'
    + b",".join(b'"f%d": 1' % n for n in range(5000))
    + b"}}",
    b'{"schema": "gpuwhy.node/1", "node": "\xff\xfe"}',
    b"x" * (5 << 20),
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_answer_is_refused_in_a_sentence(line):
    with pytest.raises(BadLineError):
        decoded(line)


def test_what_steers_a_terminal_does_not_reach_it():
    evil = "\x1b]0;owned\x07\x1b[2J‮\n::error::x"
    facts = {"gpu.names": evil, "driver.version": evil * 1000, "bad name \x1b": "x", "env.A": True}
    causes = [{"id": evil}, {"id": "driver.missing", "title": evil}]
    report = {"status": evil, "headline": evil, "causes": causes}
    value = {"schema": "gpuwhy.node/1", "node": evil, "facts": facts, "report": report}
    answer = decoded(json.dumps(value).encode())
    assert len(str(answer.facts["driver.version"])) <= 400
    assert [one.id for one in answer.causes] == ["driver.missing"]
    fleet = compare([answer, nodes.answer("b"), nodes.answer("c")])
    text = terminal.write(document(fleet, verbose=True), terminal.Paper(80, False))
    assert "\x1b" not in text
    assert "‮" not in text
    assert not any(row.startswith("::error") for row in text.splitlines())


SOME = ["gpu.count", "host.shm", "driver.version", "driver.cuda", "limits.tasks", "env.X", "gpu.names"]
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(SOME), VALUES), st.text(max_size=20))
def test_any_values_compare_and_print(facts, name):
    heard = Heard()
    value = {"schema": "gpuwhy.node/1", "node": name, "facts": facts, "whole": ["env"]}
    lines = [json.dumps(value), nodes.changed("b"), nodes.changed("c")]
    of_lines((line.encode() for line in lines), "x", heard)
    terminal.write(document(compare(heard.answers)), terminal.Paper(80, False))


@pytest.mark.parametrize(
    "before, name",
    [
        ("", ""),
        ("gpu003: ", "gpu003"),
        ("gpu003.cluster.local: ", "gpu003.cluster.local"),
        ("3: ", ""),  # srun -l: a rank
        ("[1,3]<stdout>: ", ""),
        ("[pod/gpuwhy-x7k2p/check] ", "gpuwhy-x7k2p"),
        ("(ask pid=431, ip=10.0.0.7) ", "10.0.0.7"),
        ("gpu4 | CHANGED | rc=0 | (stdout) ", "gpu4"),
        ("2026-11-15T12:00:00Z ", ""),
    ],
)
def test_what_launchers_put_before_a_line(before, name):
    assert label_of(before) == name
    heard = of_lines([before.encode() + nodes.changed("node-1").encode()], "x")
    assert heard.answers[0].name == (name or "node-1")
