"""Environments that contradict themselves, are shadowed, or lack what a GPU would need: built for real, then asked.

    python tools/env_cases.py build FOLDER            # with uv, from the package index; hard links from its cache
    python tools/env_cases.py score FOLDER -- gpuwhy  # first cause of each case against the expected one

`PYTHONS` names a folder with one CPython per version (3.11.7/bin/python). The table was written before the code that it
judges; docs/accuracy.md has the figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

PYTHONS = Path(os.environ.get("PYTHONS", str(Path.home() / ".pyenv/versions")))
FULL = {"3.9": "3.9.18", "3.10": "3.10.13", "3.11": "3.11.7", "3.12": "3.12.1"}


class Case(NamedTuple):
    """One environment, what is done in it, and what must be said first."""

    name: str
    python: str
    installs: tuple[str, ...]  # one `uv pip install` each; a leading "!" adds --no-deps
    expect: tuple[str, ...]  # ids accepted as the first cause; () = no cause with a confidence of 0.5 or more
    says: str = ""  # must be in the report's text
    files: tuple[tuple[str, str], ...] = ()  # below the case's work folder
    command: tuple[str, ...] = ("check",)  # {py} {work} {base} are filled in
    env: tuple[tuple[str, str], ...] = ()
    env_of: str = ""  # another case's environment is used
    extras: tuple[tuple[str, tuple[str, ...]], ...] = ()  # folders filled by `uv pip install --target`


INCONSISTENT = ("install.inconsistent",)
SHADOWED = ("env.shadowed",)
LOST = ("cuda.missing_library", "cudnn.missing", "cuda.version_mismatch", "cudnn.version_mismatch")
RUN = ("run", "--", "{py}")
TORCH = "torch==2.6.0"

CASES: tuple[Case, ...] = (
    # what is installed against what it says
    Case("jax-lib-old", "3.11", ("jax==0.4.35", "!jaxlib==0.4.31"), INCONSISTENT, "0.4.31"),
    Case(
        "jax-plugin-newer",
        "3.11",
        ("jax==0.4.34", "!jax-cuda12-plugin==0.4.36 jax-cuda12-pjrt==0.4.36"),
        INCONSISTENT,
        "0.4.36",
    ),
    Case(
        "jax-plugin-pjrt",
        "3.11",
        ("jax==0.4.38", "!jax-cuda12-plugin==0.4.38 jax-cuda12-pjrt==0.4.31"),
        INCONSISTENT,
        "0.4.31",
    ),
    Case(
        "jax-plugin-old-5",
        "3.11",
        ("jax==0.5.3", "!jax-cuda12-plugin==0.5.0 jax-cuda12-pjrt==0.5.0"),
        INCONSISTENT,
        "0.5.0",
    ),
    Case(
        "jax-run-plugin",
        "3.11",
        (),
        INCONSISTENT,
        "0.4.36",
        env_of="jax-plugin-newer",
        command=(*RUN, "-c", "import jax; print(jax.devices('cuda'))"),
    ),
    Case("jax-scipy", "3.11", ("jax==0.4.20 jaxlib==0.4.20 numpy<2", "!scipy==1.14.1"), INCONSISTENT, "scipy"),
    Case(
        "jax-scipy-run",
        "3.11",
        (),
        INCONSISTENT,
        "scipy",
        env_of="jax-scipy",
        command=(*RUN, "-c", "import jax.scipy.linalg, jax.numpy"),
    ),
    Case("jax-mldtypes", "3.11", ("jax==0.4.38", "!ml-dtypes==0.2.0"), INCONSISTENT, "ml-dtypes"),
    Case(
        "torch-audio",
        "3.10",
        (f"{TORCH} numpy", "!torchaudio==2.11.0"),
        (*INCONSISTENT, "framework.extension_abi"),
        "torchaudio",
    ),
    Case("torch-triton", "3.10", (f"{TORCH} numpy", "!triton==3.0.0"), INCONSISTENT, "triton"),
    Case(
        "torch-xformers",
        "3.10",
        (f"{TORCH} numpy", "!xformers==0.0.31"),
        (*INCONSISTENT, "framework.extension_abi"),
        "xformers",
    ),
    Case(
        "torch-vllm-old", "3.10", (f"{TORCH} numpy", "!vllm==0.6.6"), (*INCONSISTENT, "framework.extension_abi"), "vllm"
    ),
    Case(
        "torch-text",
        "3.10",
        (f"{TORCH} numpy", "!torchtext==0.18.0"),
        (*INCONSISTENT, "framework.extension_abi"),
        "torchtext",
    ),
    Case("torch-np1-ext", "3.10", ("torch==2.2.2 numpy==2.2.6",), INCONSISTENT, "NumPy"),
    Case("tf-keras-old", "3.11", ("tensorflow-cpu==2.16.1", "!keras==2.15.0"), INCONSISTENT, "keras"),
    Case("tf-keras-new", "3.11", ("tensorflow-cpu==2.15.1", "!keras==3.6.0"), INCONSISTENT, "keras"),
    Case("tf-tfkeras", "3.11", ("tensorflow-cpu==2.17.0", "!tf-keras==2.15.1"), INCONSISTENT, "tf-keras"),
    Case(
        "tf-text",
        "3.11",
        ("tensorflow-cpu==2.16.1", "!tensorflow-text==2.15.0"),
        (*INCONSISTENT, "framework.extension_abi"),
        "tensorflow-text",
    ),
    Case(
        "tf-addons",
        "3.11",
        ("tensorflow-cpu==2.17.0", "!tensorflow-addons==0.23.0 typeguard==2.13.3"),
        INCONSISTENT,
        "tensorflow-addons",
    ),
    Case("tf-protobuf-new", "3.10", ("tensorflow-cpu==2.10.1 numpy<2", "!protobuf==4.25.5"), INCONSISTENT, "protobuf"),
    Case("sound-tf-protobuf", "3.11", ("tensorflow-cpu==2.18.0", "!protobuf==3.20.3"), ()),
    Case(
        "tf-protobuf-run",
        "3.10",
        (),
        INCONSISTENT,
        "protobuf",
        env_of="tf-protobuf-new",
        command=(*RUN, "-c", "import tensorflow as tf"),
    ),
    Case("tf-numpy2", "3.11", ("tensorflow-cpu==2.16.1", "!numpy==2.1.3"), INCONSISTENT, "numpy"),
    Case("np2-pandas", "3.11", ("jax==0.4.38 pandas==2.1.4", "!numpy==2.1.3"), INCONSISTENT, "pandas"),
    Case("np1-old", "3.11", ("jax==0.4.38", "!numpy==1.23.5"), INCONSISTENT, "numpy"),
    Case("tokenizers", "3.11", ("jax==0.4.38 transformers==4.46.3", "!tokenizers==0.15.2"), INCONSISTENT, "tokenizers"),
    Case(
        "ort-cu13-cu12",
        "3.11",
        ("onnxruntime-gpu==1.20.2", "!nvidia-cudnn-cu12==8.9.7.29 nvidia-cublas-cu12==12.4.5.8"),
        (*INCONSISTENT, *LOST),
        "cuDNN",
    ),
    # sound: nothing may be said
    Case("sound-other", "3.11", ("jax==0.4.38 requests==2.32.3", "!urllib3==1.20"), ()),
    Case("sound-jax", "3.11", ("jax==0.4.38",), ()),
    Case("tf-both", "3.11", ("tensorflow-cpu==2.17.0 tf-keras==2.17.0",), ("install.conflict",)),
    Case("sound-torch", "3.10", (f"{TORCH} torchvision==0.21.0 torchaudio==2.6.0 numpy xformers==0.0.29.post3",), ()),
    Case(
        "sound-nvjl",
        "3.10",
        (),
        (),
        env_of="sound-torch",
        env=(("LD_LIBRARY_PATH", "{work}/nvjl/nvidia/nvjitlink/lib"),),
        extras=(("nvjl", ("nvidia-nvjitlink-cu12==12.0.140",)),),
    ),
    # shadowed
    Case(
        "sh-numpy-cwd",
        "3.11",
        (),
        SHADOWED,
        "numpy.py",
        (("numpy.py", "x = 1\n"),),
        env_of="sound-jax",
        command=(*RUN, "-c", "import jax; print(jax.devices())"),
    ),
    Case(
        "sh-jax-beside",
        "3.11",
        (),
        SHADOWED,
        "jax.py",
        (("deep/jax.py", "import jax.numpy as jnp\n"), ("deep/train.py", "import jax\njax.devices()\n")),
        env_of="sound-jax",
        command=(*RUN, "{work}/deep/train.py"),
    ),
    Case(
        "sh-random",
        "3.11",
        (),
        SHADOWED,
        "random.py",
        (("random.py", "import random\nprint(random.random())\n"), ("go.py", "import tensorflow as tf\n")),
        env_of="tf-both",
        command=(*RUN, "go.py"),
    ),
    Case(
        "sh-package",
        "3.11",
        (),
        SHADOWED,
        "tensorflow",
        (
            ("tensorflow/__init__.py", ""),
            ("go.py", "import tensorflow as tf\nprint(tf.config.list_physical_devices('GPU'))\n"),
        ),
        env_of="tf-both",
        command=(*RUN, "go.py"),
    ),
    Case(
        "sh-torch-tree",
        "3.10",
        (),
        SHADOWED,
        "torch/__init__.py",
        (
            ("torch/__init__.py", "from .torch_version import __version__ as __version__\n"),
            ("torch/torch_version.py", "from .version import __version__\n"),
        ),
        env_of="sound-torch",
        command=(*RUN, "-c", "import torch; print(torch.cuda.is_available())"),
    ),
    Case(
        "sh-pythonpath",
        "3.11",
        (),
        SHADOWED,
        "PYTHONPATH",
        env_of="sound-jax",
        env=(("PYTHONPATH", "{work}/old"),),
        extras=(("old", ("numpy==1.22.4 --python-version 3.10",)),),
        command=(*RUN, "-c", "import jax; print(jax.devices())"),
    ),
    Case(
        "sh-pythonpath-check",
        "3.11",
        (),
        SHADOWED,
        "PYTHONPATH",
        env_of="sound-jax",
        env=(("PYTHONPATH", "{work}/old"),),
        extras=(("old", ("numpy==1.22.4 --python-version 3.10",)),),
    ),
    Case(
        "sh-pth",
        "3.11",
        ("jax==0.4.38",),
        SHADOWED,
        ".pth",
        (("lib/numpy/__init__.py", "__version__ = '0'\n"),),
        command=(*RUN, "-c", "import jax; print(jax.devices())"),
    ),
    Case(
        "sh-leftover-check",
        "3.11",
        (),
        (),
        env_of="sound-jax",
        env=(("PYTHONPATH", "{work}/plain"),),
        files=(("plain/mine.py", "x = 1\n"),),
    ),
    # a machine without the GPU
    Case("with-tf", "3.11", ("tensorflow==2.18.1",), LOST, "ith a GPU"),
    Case(
        "with-jax-local",
        "3.11",
        ("jax==0.4.38", "!jax-cuda12-plugin==0.4.38 jax-cuda12-pjrt==0.4.38"),
        LOST,
        "ith a GPU",
    ),
    Case("with-cupy", "3.11", ("cupy-cuda12x==13.3.0 numpy",), LOST, "ith a GPU"),
    Case("with-ort", "3.11", ("onnxruntime-gpu==1.20.2",), LOST, "ith a GPU"),
    Case(
        "as-torch-5090",
        "3.10",
        (),
        ("driver.too_old", "framework.gpu_unsupported"),
        "s if",
        env_of="sound-torch",
        command=("check", "--gpu", "RTX 5090", "--driver", "535"),
    ),
    Case(
        "as-torch-a100",
        "3.10",
        (),
        (),
        "s if",
        env_of="sound-torch",
        command=("check", "--gpu", "A100", "--driver", "550"),
    ),
    Case(
        "as-tf-a100", "3.11", (), LOST, "s if", env_of="with-tf", command=("check", "--gpu", "A100", "--driver", "550")
    ),
    Case(
        "as-torch-old-driver",
        "3.10",
        (),
        ("driver.too_old",),
        "s if",
        env_of="sound-torch",
        command=("check", "--gpu", "V100", "--driver", "470"),
    ),
)


def build(folder: Path) -> None:
    """Make every environment and work folder that is not there yet."""
    for case in CASES:
        work = folder / "work" / case.name
        work.mkdir(parents=True, exist_ok=True)
        for name, text in case.files:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        for name, wanted in case.extras:
            if not (work / name).exists():
                _uv("pip", "install", "-q", "--no-deps", "--target", str(work / name), *" ".join(wanted).split())
        env = folder / "envs" / case.name
        if case.installs and not (env / "complete").exists():
            _environment(env, case)
            print("built", case.name, flush=True)


def _environment(env: Path, case: Case) -> None:
    _uv("venv", "-q", "--clear", "-p", str(PYTHONS / FULL[case.python] / "bin/python"), str(env))
    for one in case.installs:
        flags = ["--no-deps"] if one.startswith("!") else []
        _uv("pip", "install", "-q", "-p", str(env / "bin/python"), *flags, *one.lstrip("!").split())
    if case.name == "sh-pth":
        site = next((env / "lib").glob("python*")) / "site-packages"
        work = env.parent.parent / "work" / case.name / "lib"
        (site / "zz_first.pth").write_text(f"import sys; sys.path.insert(0, {str(work)!r})\n")
    (env / "complete").touch()


def _uv(*words: str) -> None:
    subprocess.run(["uv", *words], check=True, timeout=1200)


def score(folder: Path, gpuwhy: list[str]) -> None:
    """Ask about each case once, and print what was said beside what should be."""
    right = 0
    for case in CASES:
        verdict, said = _judged(case, folder, gpuwhy)
        right += verdict == "right"
        print(f"{verdict:<7} {case.name:<20} {said}", flush=True)
    print(f"{right} of {len(CASES)} right")


def _judged(case: Case, folder: Path, gpuwhy: list[str]) -> tuple[str, str]:
    report, code = _ask(case, folder, gpuwhy)
    causes = [c for c in report.get("causes", ()) if c["confidence"] >= 0.5]
    first = causes[0]["id"] if causes else ""
    said = f"{first or '-'} {causes[0]['confidence'] if causes else ''} rc={code} {report.get('headline', '')[:110]}"
    text = json.dumps([report.get("headline"), report.get("causes")], ensure_ascii=False)
    if not report and case.expect:
        return "none", said
    named = case.says in text
    if not case.expect:
        return ("right" if not first and named else "wrong"), said
    if first in case.expect:
        return ("right" if named else "partly"), said
    return ("wrong" if first else "silent"), said


def _ask(case: Case, folder: Path, gpuwhy: list[str]) -> tuple[dict[str, Any], int]:
    work = folder / "work" / case.name
    env = folder / "envs" / (case.env_of or case.name)
    places = {"py": str(env / "bin/python"), "work": str(work)}
    words = [word.format(**places) for word in case.command]
    if words[0] == "check":
        words += ["--json", "--python", str(env)]
    else:
        words.insert(1, "--json")
    around = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    around.update({k: v.format(**places) for k, v in case.env})
    done = subprocess.run([*gpuwhy, *words], cwd=work, env=around, capture_output=True, text=True, timeout=300)
    return _report(done.stdout if words[0] == "check" else done.stderr), done.returncode


def _report(text: str) -> dict[str, Any]:
    at = text.find('{"schema"') if '{"schema"' in text else text.find("{\n")
    try:
        found, _ = json.JSONDecoder().raw_decode(text[at:]) if at >= 0 else ({}, 0)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]).resolve())
    else:
        score(Path(sys.argv[2]).resolve(), sys.argv[sys.argv.index("--") + 1 :])
