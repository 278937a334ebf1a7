"""The hosts of tests/hosts, from recording to findings: the causes that their truth supports."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Weight
from gpuwhy.loader.loads import loads
from gpuwhy.look.look import Options, look
from gpuwhy.machine.recording import Recording, recorded_machine
from gpuwhy.signs.judged import judge

from .fixtures import state_of

HOSTS = Path(__file__).parent.parent / "hosts"
NAMES = sorted(path.name.split(".")[0] for path in HOSTS.glob("*.json*"))

BY_PROBE = {  # what the frameworks printed under --probe shows these, with the diagnosis of a text
    "h200-probe-cudnn-cnn-of-another-release",
    "h200-probe-jax-plugin-gone",
    "h200-probe-nccl-interface",
    "h200-probe-no-toolkit",
    "h200-probe-nodev",
    "h200-probe-ptxas-gone",
}


def described(name: str) -> dict[str, Any]:
    (file,) = HOSTS.glob(f"{name}.json*")
    data = file.read_bytes()
    return json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)


def answers(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options and every answer of a host, its bases applied."""
    one = described(name)
    if "base" not in one:
        return one["options"], one["answers"]
    options, below = answers(one["base"])
    gone = [re.compile(pattern) for pattern in one.get("gone", [])]
    kept = {key: value for key, value in below.items() if not any(g.search(key) for g in gone)}
    return {**options, **one.get("options", {})}, {**kept, **one["answers"]}


def facts_of(name: str) -> Facts:
    machine = recorded_machine(Recording("gpuwhy.record/1", "0", *answers(name)))
    asked = machine.recording.options
    options = Options(python=asked.get("python", ""), folder=asked.get("folder", ""))
    facts = look(machine, options)
    return msgspec.structs.replace(facts, loads=loads(machine, facts))


@pytest.mark.parametrize("name", NAMES)
def test_host(name):
    expected, facts = described(name)["expect"], facts_of(name)
    speaking = [one for one in judge(facts).findings if one.weight is not Weight.AGAINST]
    loud = {one.cause for one in speaking if one.effect is not Effect.NOTED}
    shown = {cause for cause in loud if state_of(facts, cause) == "shown"}
    assert name in BY_PROBE or set(expected) <= shown, sorted(one.says for one in speaking)
    assert shown == set() or expected, "a healthy host shows no cause"
