"""Builds that wishes name, guests, floors and the smallest change: one small case for each rule."""

from __future__ import annotations

import pytest

from gpuwhy.model.plan import Plan
from gpuwhy.plan.answer import plan
from gpuwhy.plan.catalogue import closeness
from gpuwhy.plan.machine import BadMachineError, described, gpu
from gpuwhy.plan.possible import is_other
from gpuwhy.plan.wishes import WishError, from_file, from_words


def made(*words: str, driver: str = "550", gpus: tuple[str, ...] = ("A100",), **more: str) -> Plan:
    return plan(from_words(words), described(driver, gpus, **more))


def of_file(text: str, gpus: tuple[str, ...] = ("A100",), driver: str = "550") -> Plan:
    return plan(from_file("requirements.txt", lambda _: text), described(driver, gpus))


def installs(found: Plan) -> dict[str, str]:
    assert found.proposal, found.conflict
    return {choice.package: choice.requirement for choice in found.proposal.choices}


def test_a_label_names_the_build():
    found = of_file("torch==2.5.1+cu121\ntorchvision==0.20.1+cu121\n")
    assert installs(found) == {"torch": "torch==2.5.1+cu121", "torchvision": "torchvision==0.20.1"}


def test_the_label_of_the_build_on_the_package_index():
    assert installs(of_file("torch==2.5.1+cu124\n")) == {"torch": "torch==2.5.1"}


def test_an_index_in_a_file_names_the_build():
    text = "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1\n"
    assert installs(of_file(text)) == {"torch": "torch==2.3.1+cu118"}


def test_a_label_without_cuda_is_told():
    found = of_file("torch==2.5.1+cpu\n")
    assert found.proposal
    assert any("a build without CUDA" in note for note in found.proposal.notes)


def test_an_extra_names_the_build():
    assert installs(made("jax[cuda12]", driver="580"))["jax"].startswith("jax[cuda12]")
    assert installs(made("jax[cuda13]", driver="580"))["jax"].startswith("jax[cuda13]")


def test_rivals_are_told():
    found = made("onnxruntime", "onnxruntime-gpu")
    assert found.proposal
    assert any("own the same files" in note for note in found.proposal.notes)


def test_a_guests_release_that_was_not_harvested_is_left_to_the_installer():
    wish = from_words(["spacy==3.7.6"])[0]
    assert is_other(wish)
    assert installs(made("torch", "spacy==3.7.6")).keys() == {"torch"}


def test_a_framework_that_must_be_named():
    with pytest.raises(WishError, match="brings no framework"):
        made("keras")


def test_two_generations_are_told_together():
    found = made("torch", driver="", gpus=("GTX 1080 Ti", "RTX 5090"))
    assert found.conflict
    assert found.conflict.text.startswith("no release of torch serves GeForce GTX 1080 Ti (sm_61) and GeForce RTX 5090")
    assert "an environment of its own" in found.conflict.gives_up


def test_what_nobody_read_is_not_said_to_work():
    found = made("ctranslate2")
    assert found.proposal
    assert found.proposal.unsure


def test_the_closest_release_is_the_nearest():
    found = made("torch==2.4.1", driver="580", gpus=("RTX 5090",))
    assert found.conflict
    assert found.conflict.gives_up == "another release: torch 2.8.0"
    assert found.conflict.nearest
    assert not any("does not go with" in passed.why for passed in found.conflict.nearest.passed)


def test_closeness():
    order = sorted(["1.13.1", "2.15.0", "2.7.0", "2.7.1", "2.3.0"], key=lambda version: closeness(version, "2.5.1"))
    assert order == ["2.7.1", "2.7.0", "2.3.0", "2.15.0", "1.13.1"]


@pytest.mark.parametrize(
    ("text", "capability"),
    [("rtx3090ti", "8.6"), ("GTX1060", "6.1"), ("3090", "8.6"), ("2x RTX_3090", "8.6"), ("RTX PRO 6000", "12.0"),
     ("RTX 4090D", "8.9"), ("A800 80GB", "8.0"), ("Jetson Thor", "11.0"), ("GT 710", "3.5")],
)  # fmt: skip
def test_names_as_people_write_them(text, capability):
    assert gpu(text).capability == capability


@pytest.mark.parametrize(("text", "maker"), [("RX 7900 XTX", "AMD"), ("Arc A770", "Intel"), ("M3 Max", "Apple")])
def test_other_makers(text, maker):
    with pytest.raises(BadMachineError, match=f"a GPU of {maker}"):
        gpu(text)


def test_arm_follows_from_the_gpu():
    assert described("580", ("GH200",)).machine == "aarch64"
    assert described("580", ("GH200",), machine="x86_64").machine == "x86_64"
