"""What a command line runs, by its files: which Python, what its text asks for, what it sets."""

import sys
from pathlib import Path

import pytest

from gpuwhy.facts.run import CodeLine
from gpuwhy.run.target import imported, python_of_command, script_folder, script_place, settings, wanted_gpu


@pytest.mark.parametrize(
    "text, line",
    [
        ("import torch\nx = torch.zeros(1, device='cuda')\n", 2),
        ("import tensorflow as tf\n\nprint(tf.config.list_physical_devices('GPU'))\n", 3),
        ("import jax\njax.devices('gpu')\n", 2),
        ("s = o.InferenceSession(m, providers=['CUDAExecutionProvider'])\n", 1),
        ("# runs on cuda too\nprint(1)\n", 0),
        ("print('barracuda')\n", 0),
    ],
)
def test_the_text_asks(tmp_path: Path, text: str, line: int) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert wanted_gpu(["python", str(script)]) == (CodeLine("train.py", line) if line else None)


def test_what_the_text_imports_and_a_text_on_the_command_line_asks(tmp_path: Path) -> None:
    assert wanted_gpu(["python3", "-c", "import torch; torch.cuda.init()"]) == CodeLine("its text", 1)
    assert wanted_gpu(["ls", "-c"]) is None
    script = tmp_path / "train.py"
    text = "import onnxruntime as o\nfrom torch.cuda import amp\n    import jax\n# import cupy\nimport torchx\n"
    script.write_text(text)
    assert imported(["python", str(script)]) == ("onnxruntime", "torch")
    assert imported(["python3", "-c", "import os; import jax; jax.devices('gpu')"]) == ("jax",)
    assert imported(["python", "-c", "import numpy as np, onnxruntime as o, torch.cuda"]) == ("onnxruntime", "torch")
    assert imported(["ls"]) == ()


def test_the_first_folder(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    folder = str(tmp_path.resolve())
    assert script_folder(["/usr/bin/python3", "-u", str(script), "-c"]) == folder
    assert script_folder(["python3", "-X", "dev", str(script)]) == folder
    assert script_folder(["torchrun", "--nproc-per-node=2", str(script)]) == folder
    assert script_folder(["python3", "-c", "import torch"]) == ""
    assert script_folder(["python3", "-m", "train"]) == ""
    assert script_folder(["python3", "-I", str(script)]) == "-"
    assert script_folder(["pytest"]) == "-"
    assert script_place(["python3", "-X", "dev", "mine.py", "random.py"]) == 3
    assert script_place(["python3", "-m", "x"]) == script_place(["./train", "x.py"]) == 0


def test_variables_that_a_job_script_and_the_program_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "job_sh": "# export NCCL_DEBUG=INFO\nexport CUDA_VISIBLE_DEVICES='9'\nJAX_PLATFORMS=cpu python3 main.py --x=1\n"
        "export LD_PRELOAD=$HOME/hook.so AWS_SECRET=no\n",
        "main_py": "import os\nos.environ['XLA_FLAGS'] = '--xla_x=1'\nif cpu:\n    os.environ['TF_X'] = '1'\n",
    }
    for name, text in texts.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    of_job = {"CUDA_VISIBLE_DEVICES": "9", "JAX_PLATFORMS": "cpu"}
    assert settings(["bash", "job.sh"]) == (of_job, {"XLA_FLAGS": "--xla_x=1"})


def test_python_of_a_command(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    python = tmp_path / "python3.99"
    files = {
        "python3.99": "",
        "tool": f"#!{python}\nimport x\n",
        "env": "#!/bin/sh\n",
        "by-env": "#!/usr/bin/env -S python3.99 -u\n",
        "long": f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n",
        "shell": "#!/bin/bash\npython train.py\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for name in ("python3.99", "tool", "by-env", "long"):
        assert python_of_command([name]) == str(python), name
    assert python_of_command(["shell"]) == python_of_command(["nothing-like-it"]) == ""
    assert python_of_command([sys.executable]) == sys.executable
