"""Present: what a text shows to be there is no remedy; and a variable is set where the program is started."""

import pytest

from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import asked
from gpuwhy.rooms.text.entire import entire
from gpuwhy.rooms.text.installable import installable
from gpuwhy.rooms.text.premises import grounded
from gpuwhy.rooms.text.present import present
from gpuwhy.rooms.text.set_where import reaching
from gpuwhy.symptoms.reader import read_text

TABLE = "| NVIDIA-SMI 551.23    Driver Version: 551.23    CUDA Version: 12.4 |\n"
DISTRIBUTIONS = "  NAME      STATE           VERSION\n* Ubuntu    Running         2\n"
LISTED = "Package    Version\ntriton     3.1.0\nnvidia-cudnn-cu12 9.1.0.70\n"


def case(text: str):
    return asked((), read_text(text))


@pytest.mark.parametrize(
    ("said", "text", "there"),
    [
        ("Update the driver to 525 or newer, which CUDA 12 needs\n", TABLE, True),
        ("Update the driver to 580 or newer, which CUDA 13 needs\n", TABLE, False),
        ("Update the driver to 525 or newer, or take the build for CUDA 11\n", TABLE, False),
        ("Update the driver to 525 or newer, which CUDA 12 needs\n", "nothing told\n", False),
        ("Install it\npip install triton==3.1.0", LISTED, True),
        ("Install it\npip install triton==3.2.0", LISTED, False),
        ("Install it\npip install -U triton", LISTED, False),
        ("Install it\npip install nvidia_cudnn_cu12", LISTED, True),
        ("Install it\npip install triton ninja", LISTED, False),
        ("Install it again\npip install --force-reinstall triton==3.1.0", LISTED, False),
        ("Move it to WSL 2\nwsl --set-version Ubuntu 2", DISTRIBUTIONS, True),
        ("Move it to WSL 2\nwsl --set-version Ubuntu 2", DISTRIBUTIONS.replace("  2", "  1"), False),
        ("Install CUDA 12.4\n", "Cuda compilation tools, release 12.4, V12.4.131\n", True),
        ("Install CUDA 12.4 and cuDNN 9\n", "Cuda compilation tools, release 12.4, V12.4.131\n", False),
        ("Install CUDA 11.8\n", "Cuda compilation tools, release 12.4, V12.4.131\n", False),
    ],
)  # fmt: skip
def test_what_is_there_is_known(said, text, there):
    assert present(said, case(text)) is there


def test_what_is_there_goes_where_something_else_mends():
    has, new = Fix("Install it", "pip install triton==3.1.0"), Fix("Leave out --compile")
    assert grounded((has, new), case(LISTED)) == [new]
    assert grounded((has,), case(LISTED)) == [has]


WINDOW = Fix("Put its folder on PATH, in this window", 'set "PATH=C:\\cuda\\bin;%PATH%"')


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("C:\\Users\\a\\PycharmProjects\\x\\venv\\Scripts\\python.exe C:/x.py\nno cudart64_110.dll\n", "PyCharm"),
        ("D:\\src\\App\\bin\\Debug\\net6.0\\App.exe\nerror 126 onnxruntime_providers_cuda.dll\n", "Visual Studio"),
        ("File \"C:\\Users\\a\\lib\\site-packages\\spyder_kernels\\x.py\"\nno cudart64_110.dll\n", "Spyder"),
        ("C:\\Users\\a\\lib\\site-packages\\ipykernel\\x.py\nno cudart64_110.dll\n", "Jupyter"),
        ("C:\\Users\\a> python x.py\nno cudart64_110.dll\n", ""),
    ],
)  # fmt: skip
def test_a_variable_is_set_where_the_program_is_started(text, word):
    (told,) = reaching((WINDOW,), case(f"Microsoft Windows [Version 10.0.19045]\n{text}"))
    assert word in told.text
    assert bool(word) == (told.text != WINDOW.text)


def test_conda_is_brought_where_nothing_tells_of_it():
    fix = Fix("The libraries of CUDA 10.1", "conda install -c conda-forge cudatoolkit=10.1")
    assert "Miniforge" in installable([fix], case("libcudart.so.10.1: cannot open\n"))[0].text
    assert installable([fix], case("(base) $ python a.py\n"))[0] == fix


def test_a_toolkit_that_speaks_is_not_installed_again():
    fix = Fix("Install it", "sudo apt install nvidia-container-toolkit && sudo systemctl restart docker")
    speaks = "nvidia-container-cli: initialization error: driver not loaded\n"
    assert entire([fix], case(speaks))[0].command == "sudo systemctl restart docker"
    assert entire([fix], case("could not select device driver\n"))[0].command == fix.command


def test_a_name_that_is_taken_is_freed_first():
    fix = Fix("Start it", "docker run -d --gpus=all --name ollama ollama/ollama")
    taken = (
        "CONTAINER ID   IMAGE    COMMAND   STATUS   NAMES\n8c1d0f22   ollama/ollama   serve   Up 3 hours    ollama\n"
    )
    assert entire([fix], case(taken))[0].command.startswith("docker stop ollama && docker rename ollama ollama-old\n")
    assert entire([fix], case("no compatible GPUs were discovered\n"))[0].command == fix.command


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("pip install torch torchvision", "pip install torch xformers torchvision"),
        ('pip install "torch==2.5.1"', 'pip install "torch==2.5.1" "torchvision==0.20.1" "torchaudio==2.5.1"'),
    ],
)
def test_each_companion_that_is_named_goes_with_torch(command, made):
    text = "torch 2.1.2+cu121, torchvision 0.16.2, torchaudio 2.1.2, xformers 0.0.23.post1\n"
    assert entire([Fix("Raise it", command)], case(text))[0].command.startswith(made)


def test_what_only_names_xformers_as_an_option_does_not_get_it():
    fix = Fix("Raise it", "pip install torch")
    assert entire([fix], case("Start with --xformers or --opt-sdp-attention\n"))[0] == fix
