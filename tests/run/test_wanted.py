"""A program that asks for a GPU in its own text, and the folder that its Python searches first."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.facts.run import CodeLine
from gpuwhy.run.target import imported, script_folder, wanted_gpu


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


def test_a_text_on_the_command_line() -> None:
    assert wanted_gpu(["python3", "-c", "import torch; torch.cuda.init()"]) == CodeLine("its text", 1)
    assert wanted_gpu(["ls", "-c"]) is None


def test_what_the_text_imports(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import onnxruntime as o\nfrom torch.cuda import amp\n    import jax\n# import cupy\nimport torchx\n"
    )
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
