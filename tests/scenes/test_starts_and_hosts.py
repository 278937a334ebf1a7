"""What an image's start does to its variables, what the host's driver brings beside it, and fixes that fit both."""

import os

import pytest

from tests.scenes.stage import judged as answer_of
from gpuwhy.look.assumed import AssumedMachine
from tests import started
from tests.machine.images import oci
from tests.look.world import World, shared_object

from .faulty_images import ENV, FOUND, base, good, with_driver
from .test_images import packed
from .test_scenes import tensorflow

T4 = (("Tesla T4", "7.5"),)


def judged(path, machine=None):
    return answer_of(path, on=machine)


def said(cause):
    return " ".join(one.text for one in cause.because)


def commands(cause):
    return " ".join(f"{fix.text} {fix.command}" for fix in cause.fixes)


@pytest.mark.parametrize(
    ("driver", "shown"),
    [("470", True), ("470.82.01", True), ("535.54.03", True), ("535", False), ("535.104.05", False), ("550", False)],
)
def test_a_newer_driver_in_the_image_wins_over_the_hosts(tmp_path, driver, shown):
    world = World(tmp_path / "root")
    with_driver(world)  # 535.104.05
    image = oci(tmp_path / "i", packed(world.root), env=[*ENV, FOUND])
    report = judged(image, AssumedMachine(T4, driver))
    found = {one.id: one for one in report.causes}
    assert ("driver.library_mismatch" in found, report.exit_code) == (shown, int(shown)), report.headline
    if shown:
        cause = found["driver.library_mismatch"]
        assert "ldconfig, which links the name to the newer" in said(cause)


def test_a_newer_libnvidia_ml_alone_is_told_and_stops_nothing(tmp_path):
    world = World(tmp_path / "root")
    good(world)
    world.file("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.535.104.05", shared_object(padding=1 << 21))
    os.symlink("libnvidia-ml.so.535.104.05", world.root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1")
    image = oci(tmp_path / "i", packed(world.root), env=[*ENV, FOUND])
    report = judged(image, AssumedMachine(T4, "470"))
    assert [one.id for one in report.causes] == ["driver.library_mismatch"]
    assert "NVML" in said(report.causes[0])
    assert report.status == "degraded"
    assert judged(image, AssumedMachine(T4, "550")).causes == ()


@pytest.mark.parametrize(
    ("line", "causes", "why"),
    [
        ("LD_LIBRARY_PATH=/opt/x", ["env.path"], "line 2 of /start.sh sets it to /opt/x"),
        ("LD_LIBRARY_PATH=/opt/x:$LD_LIBRARY_PATH", [], ""),
        ("CUDA_VISIBLE_DEVICES=-1", ["device.selection"], ""),
    ],
)
def test_an_entrypoint_that_sets_a_variable(tmp_path, line, causes, why):
    world = World(tmp_path / "root")
    good(world)
    world.file("/start.sh", f'#!/bin/sh\nexport {line}\nexec "$@"\n')
    image = oci(tmp_path / "i", packed(world.root), env=[*ENV, FOUND], Entrypoint=["/start.sh"])
    report = judged(image, AssumedMachine(T4, "550"))
    assert [one.id for one in report.causes] == causes, report.headline
    assert all(why in said(one) for one in report.causes)


def test_a_command_that_unsets_the_search_path(tmp_path):
    world = World(tmp_path / "root")
    good(world)
    command = ["sh", "-c", "unset LD_LIBRARY_PATH; exec python /main.py"]
    report = judged(oci(tmp_path / "i", packed(world.root), env=[*ENV, FOUND], Cmd=command), AssumedMachine(T4, "550"))
    assert [one.id for one in report.causes] == ["env.path"]
    assert "the command of the image unsets it before the program starts" in said(report.causes[0])


def torch(world, version="2.13.0+cpu"):
    base(world)
    world.file("/usr/bin/python3.12", shared_object())
    os.symlink("python3.12", world.root / "usr/bin/python3")
    world.file("/usr/lib/python3.12/EXTERNALLY-MANAGED", "[externally-managed]\n")
    site = "/usr/local/lib/python3.12/dist-packages"
    world.file(f"{site}/torch/version.py", "cuda: Optional[str] = None\n")
    world.file(f"{site}/torch/__init__.py", "")
    world.file(f"{site}/torch-{version}.dist-info/METADATA", f"Name: torch\nVersion: {version}\n")


@pytest.mark.parametrize(("driver", "index"), [("550", "/cu126"), ("580", "/cu130")])
def test_the_build_of_torch_is_one_that_the_driver_runs(tmp_path, driver, index):
    world = World(tmp_path / "root")
    torch(world)
    image = oci(tmp_path / "i", packed(world.root), env=["PATH=/usr/bin"])
    first = judged(image, AssumedMachine((("A100", "8.0"),), driver)).causes[0]
    assert first.id == "framework.cpu_only"
    assert index in first.fixes[0].command


def test_an_image_for_arm_is_built_for_the_machine_with_the_gpu(tmp_path):
    world = World(tmp_path / "root")
    torch(world)
    world.file("/bin/sh", shared_object(machine=183))
    image = oci(tmp_path / "i", packed(world.root), env=["PATH=/usr/bin"], architecture="arm64")
    first = judged(image, AssumedMachine((("GeForce RTX 4090", "8.9"),), "550")).causes[0]
    assert "linux/arm64" in said(first)
    grace = judged(image, AssumedMachine((("GH200", "9.0"),), "580"))
    assert "amd64" not in commands(grace.causes[0])


def test_no_newer_driver_for_a_card_that_none_drives(tmp_path):
    world = World(tmp_path / "root")
    base(world)
    tensorflow(world, "2.15.0", "12.2", "8.9")
    report = judged(world.root, AssumedMachine((("Tesla K80", "3.7"),), "470"))
    old = next(one for one in report.causes if one.id == "driver.too_old")
    text = commands(old)
    assert "R470 is the last driver branch for this GPU" in text
    assert "Install a newer NVIDIA driver" not in text
    assert "apt" not in text
    newer = judged(world.root, AssumedMachine((("Tesla P100", "6.0"),), "470"))
    assert "Install a newer NVIDIA driver" in commands(
        next(one for one in newer.causes if one.id == "driver.too_old")
    )


@pytest.mark.parametrize("form", ["{root}/venv", "{root}/venv/bin/python", "/venv"])
def test_python_by_the_path_that_the_person_sees(tmp_path, form):
    world = World(tmp_path / "root")
    good(world)
    done = started.gpuwhy(["check", "--root", str(world.root), "--python", form.format(root=world.root)])
    assert done.returncode != 2, done.stderr
    assert "/venv" in done.stdout
    lost = started.gpuwhy(["check", "--root", str(world.root), "--python", f"{world.root}/nowhere"])
    assert lost.returncode == 2


def test_a_gpu_that_a_login_file_of_a_disk_hides_counts_without_a_card(tmp_path):
    world = World(tmp_path / "root")
    good(world)
    world.file("/etc/environment", "CUDA_VISIBLE_DEVICES=-1\n")
    report = judged(world.root)
    assert ([one.id for one in report.causes if one.confidence > 0.5], report.exit_code) == (["device.selection"], 1)
    world.file("/etc/environment", "CUDA_VISIBLE_DEVICES=0\n")
    assert "device.selection" not in {one.id for one in judged(world.root).causes}
