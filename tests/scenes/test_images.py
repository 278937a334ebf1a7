"""Images judged whole: the causes of the unpacked tree, the config's variables, and what files cannot tell said."""

import io
import json
import tarfile

import pytest

from tests.scenes.stage import seen
from gpuwhy.facts.facts import dump
from gpuwhy.facts.fact import Known, Unknown
from tests import started
from tests.machine.images import oci
from tests.look.world import World

from .faulty_images import CUDA as FOLDER, ENV, good


@pytest.fixture
def world(tmp_path):
    """TensorFlow 2.3.4 with CUDA 10.1 and cuDNN 7.6.5 in a folder that only LD_LIBRARY_PATH leads to."""
    world = World(tmp_path / "root")
    good(world)
    world.file("/usr/local/cuda-10.1/version.txt", "CUDA Version 10.1.243\n")
    return world


def packed(root) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.add(root, ".")
    return out.getvalue()


def test_a_good_image_says_what_files_cannot(world, tmp_path):
    env = [*ENV, f"LD_LIBRARY_PATH={FOLDER}", "NVIDIA_REQUIRE_CUDA=cuda>=10.1 brand=tesla,driver>=396,driver<397"]
    found = seen(oci(tmp_path / "i", packed(world.root), env=env))
    report = found.report
    assert [cause.id for cause in report.causes if cause.confidence >= 0.5] == []
    assert report.headline == (
        "Nothing wrong with TensorFlow 2.3.4 as far as files tell; the image has no driver or GPU"
    )
    assert report.status == "healthy"
    rows = {row.name: row.text for row in report.layers}
    assert rows["GPU"] == "not part of the image"
    assert rows["driver"] == "not part of the image"
    assert found.facts.system.container.need() == "image"
    assert isinstance(found.facts.system.injected, Unknown)


def test_an_image_and_its_unpacked_tree_have_the_same_facts(world, tmp_path):
    (tmp_path / "fs.tar").write_bytes(packed(world.root))
    archive, folder = (seen(path, "/venv").facts for path in (tmp_path / "fs.tar", world.root))
    for subject in ("environment", "frameworks", "libraries", "variables"):
        ours, theirs = (dump(f)[subject] for f in (archive, folder))
        text = json.dumps(ours).replace("an image cannot be asked", "a folder cannot be asked")
        text = text.replace("run gpuwhy in a container of it", "run gpuwhy on that machine")
        assert json.loads(text) == json.loads(json.dumps(theirs)), subject
    assert isinstance(archive.frameworks.installed, Known)
    assert archive.frameworks.installed.value


# ---------------------------------------------------------------- the program


def gpuwhy(*argv):
    done = started.gpuwhy([*map(str, argv)])
    return done.returncode, done.stdout, done.stderr


def test_the_program_reads_images(world, tmp_path):
    image = oci(tmp_path / "i", packed(world.root), env=[*ENV, f"LD_LIBRARY_PATH={FOLDER}"])
    code, out, _ = gpuwhy("check", "--root", image, "--image", "mine:1")
    assert (code, out.startswith("✓ Nothing wrong with TensorFlow 2.3.4 as far as files tell")) == (0, True), out
    code, out, _ = gpuwhy("check", "--root", image, "--python", "/venv", "--json")
    assert json.loads(out)["facts"]["system"]["offline"]["value"]["kind"] == "image"
    code, _, err = gpuwhy("check", "--root", image, "--image", "other:1")
    assert code == 2
    assert "choose with --image one of: mine:1@linux/amd64" in err
    code, out, _ = gpuwhy("inspect", "--root", image, f"{FOLDER}/libcudnn.so.7")
    assert code == 0
    assert "libcudnn" in out


@pytest.mark.parametrize("what", ["gone.tar", "text.tar"])
def test_the_program_says_in_a_line_what_it_cannot_read(tmp_path, what):
    (tmp_path / "text.tar").write_text("hello" * 200)
    code, out, err = gpuwhy("check", "--root", tmp_path / what)
    assert (code, out) == (2, "")
    assert err.startswith("gpuwhy: --root ")
    assert err.count("\n") == 1
