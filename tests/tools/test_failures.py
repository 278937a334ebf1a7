"""The benchmark of failures: its labels are whole, its threads are read, its table counts right."""

import re

from bench.failures import threads
from bench.failures.__main__ import HERE, Case, Said, rows, scored
from gpuwhy.causes.load import catalogue


def test_labels_name_causes_that_exist_and_expressions_that_compile():
    known = set(catalogue().causes)
    for row in rows(HERE / "labels.jsonl"):
        assert {row["cause"], *row["also"]} <= known, row["id"]
        assert row["source"].startswith("https://")
        for pattern in (*row["accept"], *row["harm"]):
            re.compile(pattern)
    table = (HERE / "rules.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert {line.split("\t")[0] for line in table} <= known


def test_a_post_is_its_code():
    assert threads.shown("I get\n```text\nline one\n```\nplease help") == "line one\n"
    assert threads.shown("<p>Hi<pre><code>a &lt; b</code></pre>") == "a < b"
    assert threads.shown("no code at all") == "no code at all"


def test_the_table_counts():
    oom, fine = frozenset({"memory.oom"}), frozenset[str]()
    cases = [
        Case("right", "CUDA out of memory", oom, False, ("batch",), ("driver",)),
        Case("wrong", "libcudnn.so.8 is gone", oom, False, ("batch",), ("driver",)),
        Case("innocent", "Xid 79", fine, innocent=True),
    ]

    def ask(log: str) -> Said:
        cause = "memory.oom" if "memory" in log else "cudnn.missing"
        fix = "a smaller batch" if "memory" in log else "reinstall the driver"
        return Said(((cause, 0.95),), (fix,), 3, 0.1)

    assert scored("a tool", cases, ask) == ["a tool", "1/2", "1/2", "1/2", "1/2", "1/1", "0.10 s"]
