"""What a set pins can be installed together: NVIDIA's wheels by harvested metadata, companions by their index."""

from __future__ import annotations

import argparse

import pytest
from packaging.specifiers import SpecifierSet

from gpuwhy.cli import plan as command
from gpuwhy.knowledge.brought import brought, knows
from gpuwhy.knowledge.variants import variants
from gpuwhy.model.plan import Machine, Proposal
from gpuwhy.plan.answer import plan
from gpuwhy.plan.machine import BadMachineError, described, flags
from gpuwhy.plan.wishes import from_file, from_words


def proposal(words: str, *machine: object, file: str = "") -> Proposal:
    wishes = [*from_words(words.split()), *(from_file("r.txt", lambda _: file) if file else [])]
    made = plan(wishes, described(*machine))  # type: ignore[arg-type]
    found = made.proposal or (made.conflict.nearest if made.conflict else None)
    assert found is not None
    return found


def versions(found: Proposal) -> dict[str, str]:
    return {choice.package: choice.version for choice in (*found.choices, *found.libraries)}


@pytest.mark.parametrize(
    "words, guest, torch",
    [("cudf-cu12 torch", "cudf-cu12", ">=2.9"), ("cuml-cu12 torch", "cuml-cu12", ">=2.9")],
)
def test_a_guests_helpers_count(words, guest, torch):
    """libcudf-cu12 26.10 wants nvidia-nvjitlink-cu12>=12.9, torch 2.10.0 pins 12.8.93; torch stays a new one."""
    found = versions(proposal(words, "535", ("sm_89",), "3.12"))
    assert SpecifierSet(torch).contains(found["torch"])
    wheels = brought(guest, found[guest])
    asked = {name: spec for name, spec in wheels.items() if name in found}
    assert {name for name, spec in asked.items() if not SpecifierSet(spec).contains(found[name])} == set()


def test_a_helper_is_read_where_its_package_asks_for_it():
    assert knows("cudf-cu12")
    assert ">=12.9" in brought("cudf-cu12", "26.10.2")["nvidia-nvjitlink-cu12"]
    assert "nvidia-nvjitlink-cu12" not in brought("cudf-cu12", "24.2.1")
    assert brought("no-such-package", "1") == {}


def test_jax_asks_by_its_extra_where_its_plugin_does_not():
    """jax 0.4.29 wants cuDNN 9 and tensorflow 2.17 pins 8.9.7.29: 0.4.28 is the newest that goes with it."""
    assert brought("jax[cuda12]", "0.4.29")["nvidia-cudnn-cu12"] == "<10.0,>=9.0"
    found = versions(proposal("jax tensorflow", "525.60.13", ("A100",), "3.9", file="numpy>=1.22,<1.24\n"))
    assert (found["jax"], found["tensorflow"]) == ("0.4.28", "2.17.1")


def test_companions_come_from_the_index_that_torch_comes_from():
    """torchvision 0.29.2 was built with torch 2.15, which has no build for CUDA 12.6; 0.29.1 with 2.14.1, which has."""
    found = proposal("torch torchvision", "576.52", ("GTX 1050 Ti",), "3.11", "windows")
    assert [choice.backend for choice in found.choices] == ["cu126", ""]
    assert versions(found) | {} == {"torch": "2.14.1", "torchvision": "0.29.1"}
    through = versions(proposal("ultralytics", "576.52", ("GTX 1050 Ti",), "3.11", "windows"))
    assert through["torchvision"] == "0.29.1"


@pytest.mark.parametrize(
    "version, code", [("1.2.0", "sm_35"), ("1.3.0", "sm_35"), ("1.3.1", "sm_37"), ("1.4.0", "sm_37")]
)
def test_the_oldest_code_of_the_builds_for_cuda_9_2(version, code):
    assert next(one for one in variants(version) if one.cuda == "9.2").code[0] == code


def test_what_is_compiled_against_an_old_torch_wants_an_old_setuptools():
    old = proposal("torch==2.1.2 flash-attn==2.3.6", "525.85", ("A100",), "3.10")
    assert "setuptools<70" in {cap.requirement for cap in old.caps}
    words = next(way.text for way in old.ways if way.kind == "pip").split()
    assert '"setuptools<70"' in words
    assert "setuptools" not in words
    new = proposal("torch==2.6.0 flash-attn", "550", ("A100",), "3.10")
    assert "setuptools<70" not in {cap.requirement for cap in new.caps}
    plain = proposal("torch==2.1.2", "525.85", ("A100",), "3.10")
    assert "setuptools<70" not in {cap.requirement for cap in plain.caps}


ROOP = "torch==2.0.1+cu118\ntorchvision==0.15.2\nonnxruntime-gpu==1.15.1\ntensorflow==2.13.0\n"


def test_a_file_with_tensorflow_for_the_cpu_works_on_windows():
    found = proposal("", "531.79", ("GTX 1660 Ti",), "3.10", "windows", file=ROOP)
    assert "tensorflow" in {wish.name for wish in found.others}
    assert any("tensorflow==2.13.0 has no CUDA on native Windows" in note for note in found.notes)
    assert "tensorflow==2.13.0" in next(way.text for way in found.ways if way.kind == "pip")
    alone = plan(from_words(["tensorflow==2.13.0"]), described("531", ("GTX 1660 Ti",), "3.10", "windows"))
    assert alone.conflict is not None, "alone it is asked for its GPU"


def test_a_release_that_never_had_a_wheel_is_taken_where_it_is_pinned():
    found = proposal("insightface==0.7.3 onnxruntime-gpu==1.18.0", "535", ("RTX 3070",), "3.10")
    assert versions(found)["insightface"] == "0.7.3"
    assert any("built from its source" in note and "not read" in note for note in found.notes)
    free = versions(proposal("insightface onnxruntime-gpu==1.18.0", "535", ("RTX 3070",), "3.10"))
    assert free["insightface"] != "0.7.3", "no old source where nobody asks for it"


def test_onnxruntime_does_not_stay_beside_its_twin():
    found = proposal("onnxruntime-gpu faster-whisper", "535", ("RTX 2060",), "3.10")
    assert found.removes == ("onnxruntime",)
    for kind in ("uv", "pip"):
        lines = next(way.text for way in found.ways if way.kind == kind).splitlines()
        assert "uninstall" in lines[-2]
        assert lines[-2].endswith(" onnxruntime")
        assert "--no-deps" in lines[-1]
        assert "onnxruntime-gpu" in lines[-1]
    assert proposal("onnxruntime-gpu", "535", ("RTX 2060",), "3.10").removes == ()


@pytest.mark.parametrize(
    "cuda, words",
    [("9.0", ("tensorflow-gpu", "390.157", "GTX 970", "3.6")), ("10.2", ("cupy", "470", "GTX 680", "3.8"))],
)
def test_an_old_cuda_says_where_it_comes_from(cuda, words):
    found = proposal(words[0], words[1], (words[2],), words[3])
    way = next(way for way in found.ways if way.kind == "archive")
    assert f"cuda_{cuda}" in way.text
    assert f"/usr/local/cuda-{cuda}/" in way.text
    assert "archive" in way.note


def test_every_system_cuda_says_where_it_comes_from():
    for words, python in (("onnxruntime-gpu==1.15.1", "3.10"), ("tensorflow==2.4.4", "3.8"), ("cupy-cuda91", "3.7")):
        found = proposal(words, "550", (), python)
        assert {way.kind for way in found.ways} & {"apt", "archive"}, words


def test_a_command_for_the_same_machine_keeps_its_options():
    found = proposal("torch bitsandbytes", "550", ("Tesla P40", "RTX 4090"), "3.11")
    note = next(note for note in found.notes if "gpuwhy plan" in note)
    for word in ("bitsandbytes", '"--gpu=Tesla P40"', '"--gpu=GeForce RTX 4090"', "--driver=550", "--python=3.11"):
        assert word in note
    filed = proposal("", "550", ("GTX 950M",), "3.12", file="torch\n")
    assert any("--requirement=r.txt" in note for note in filed.notes)


def test_options_describe_the_same_machine_again():
    for words in (("535", ("sm_61",), "3.11", "windows"), ("580", ("GB10",), "", "", "aarch64"), ("", (), "", "wsl")):
        first = described(*words)  # type: ignore[arg-type]
        said = dict.fromkeys(("driver", "python", "os", "arch", "glibc"), "")
        said |= {word[2:].partition("=")[0]: word.partition("=")[2] for word in flags(first)}
        cards = tuple(word.partition("=")[2] for word in flags(first) if word.startswith("--gpu="))
        again = described(said["driver"], cards, said["python"], said["os"], said["arch"])
        assert (again.platform, again.system, again.driver, again.python) == (
            first.platform,
            first.system,
            first.driver,
            first.python,
        )
        assert [card.capability for card in again.gpus] == [card.capability for card in first.gpus]


def test_no_note_of_a_torch_that_the_rest_does_not_take():
    notes = proposal("vllm", "535.183", ("RTX 3060",), "3.12").notes
    assert not [note for note in notes if "PyTorch's own index" in note]


def test_a_swap_is_said():
    notes = proposal("tensorflow==1.5", "535", ("GTX 1060",), "3.6").notes
    assert "tensorflow 1.5.1 is built without CUDA: tensorflow-gpu takes its place" in notes


@pytest.mark.parametrize("asked, near", [("3.14", "3.13"), ("3.8", "3.9")])
def test_python_moves_no_further_than_needed(asked, near):
    made = plan(from_words(["tensorflow==2.20.0"]), described("570", ("L40S",), asked))
    assert made.conflict is not None
    assert made.conflict.nearest is not None
    assert made.conflict.nearest.python == near


def test_windows_has_no_glibc():
    with pytest.raises(BadMachineError):
        described(system="windows", glibc="2.17")


def test_ranges_begin_with_the_older():
    for made in (plan(from_words(["torch"]), Machine(driver="470", python="3.11", fixed_python=True)),):
        assert made.proposal is not None
        for passed in made.proposal.passed:
            assert passed.versions == tuple(sorted(passed.versions, key=_numbers, reverse=True))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("+")[0].split("rc")[0].split(".")]


@pytest.mark.parametrize("words", ["torch", "torch torchvision", "tensorflow", "cupy torch", "onnxruntime-gpu", "jax"])
def test_a_conflict_names_its_reason(words):
    made = plan(from_words(words.split()), described(system="windows", machine="aarch64"))
    assert made.conflict is not None
    assert "has no wheel for native Windows on aarch64" in made.conflict.text


def test_a_demand_is_told_without_the_users_own_limit():
    made = plan(from_words(["torch==2.1.0", "torchvision==0.15.2"]), described("535", ("RTX 3080",), "3.10"))
    assert made.conflict is not None
    assert "torchvision 0.15.2 needs torch ==2.0.1;" in made.conflict.text


def test_what_opens_the_systems_cuda_says_so():
    found = proposal("mxnet-cu92", "470", ("GTX 1080",), "3.6")
    assert ("CUDA", "9.2") in {(part.name, part.version) for part in found.system}


def test_wheels_that_nobody_read_are_said():
    found = proposal("torch==2.14.1 cudf-cu12", "535", ("GTX 1660",), "3.12")
    assert found.choices[0].backend == "cu126"
    assert any("was not read" in note and "cudf-cu12" in note for note in found.notes)


@pytest.mark.parametrize("option", ["--os", "--driver", "--python", "--arch", "--glibc"])
def test_an_option_with_two_values_is_refused(option, capsys):
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    with pytest.raises(SystemExit):
        parser.parse_args(["plan", "torch", option, "1", option, "2"])
    assert f"{option} is given twice: 1 and 2" in capsys.readouterr().err
    assert parser.parse_args(["plan", "torch", option, "1", option, "1"])
