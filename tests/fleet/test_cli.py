import json
import os

import jsonschema
import pytest

from tests import started
from tests.fleet.nodes import changed
from tests.house.test_house import SRC


def gpuwhy(*argv, given="", **environ):
    done = started.gpuwhy(argv, given=given, env={**os.environ, **environ})
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def files(tmp_path):
    for n in range(4):
        line = changed("node-0", {"lib.nccl": "2.1"} if n == 2 else None)
        (tmp_path / f"gpu{n}.jsonl").write_text(line + "\n")
    return tmp_path


def valid(value, contract):
    schema = SRC.parent.parent / "docs" / f"{contract}.schema.json"
    jsonschema.validate(value, json.loads(schema.read_text()))


def names(files):
    return sorted(map(str, files.glob("gpu*.jsonl")))


def test_json_keeps_the_contract(files):
    code, out, _ = gpuwhy("fleet", "compare", *names(files), "--json", "--nodes", "gpu[0-4]")
    value = json.loads(out)
    valid(value, "fleet")
    assert code == 1
    assert value["odd"][0]["node"] == "gpu2"
    assert value["odd"][0]["differs"][0]["explains"] == "distributed.nccl"
    assert value["silent"] == ["gpu4"]
    valid(json.loads((files / "gpu1.jsonl").read_text()), "node")


FORMS = {"slurm": "gpu[2,4]\n", "comma": "gpu4,gpu2\n", "lines": "gpu4\ngpu2\n"}
KUBERNETES = '{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["gpu4", "gpu2"]}\n'


@pytest.mark.parametrize("form, text", [*FORMS.items(), ("kubernetes", KUBERNETES)])
def test_the_list_for_the_scheduler(files, form, text):
    asked = ["--exclude", form, "--nodes", "gpu[0-4]"]
    assert gpuwhy("fleet", "compare", *names(files), *asked)[:2] == (1, text)


def test_an_alias_is_never_given_to_a_scheduler():
    odd = {1: {"lib.nccl": "2.1"}}
    lines = "\n".join(changed(f"node-{n:012x}", odd.get(n)) for n in range(4))
    code, out, err = gpuwhy("fleet", "compare", "-", "--exclude", "slurm", given=lines)
    assert (code, out) == (2, "")
    assert "--nodes" in err


def test_a_difference_that_fails_no_job_is_4(files):
    (files / "gpu9.jsonl").write_text(changed("x", {"host.kernel": "5.4"}))
    assert gpuwhy("fleet", "compare", *names(files)[:2], str(files / "gpu9.jsonl"))[0] == 4
