"""Commands: the same set as commands and files for uv, pip, conda, Docker, apt and Windows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

import msgspec

from gpuwhy.choose.choice import Choice, Pick
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.archs import (
    ARCHIVE,
    CUDNN_ARCHIVE,
    Parts,
    parts,
    runfile,
    tensorflow_image,
)
from gpuwhy.knowledge.needs import split
from gpuwhy.knowledge.packages import flavour
from gpuwhy.knowledge.torch_builds import OLD_LIST, in_old_list, index_of

_REPOSITORY = "from NVIDIA's repository for Ubuntu, which must be set up first"
_PLAIN = re.compile(r"[\w@%+=:,./\\#-]+")
_LIVE = re.compile(r"[\"$`\\]|!(?![= ])")
"""What a POSIX shell reads inside double quotes."""

CHECKS = {
    "torch": "import torch; print(torch.ones(1, device='cuda'))",
    "tensorflow": "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))",
    "tensorflow-gpu": "import tensorflow as tf; print(tf.test.is_gpu_available())",
    "jax": "import jax; print(jax.devices('cuda'))",
    "onnxruntime-gpu": "import onnxruntime as o; print(o.get_available_providers())",
    "cupy": "import cupy; print(cupy.ones(1))",
    "mxnet": "import mxnet; print(mxnet.context.num_gpus())",
}


class Way(msgspec.Struct, frozen=True):
    """One way to install the set."""

    kind: str  # uv, pip, requirements, constraints, conda, docker, apt, archive, windows
    title: str
    text: str
    file: str = ""
    note: str = ""


def ways(choice: Choice) -> tuple[Way, ...]:
    """Every way that fits the machine; the one of the machine's own installer first."""
    every = [_pip(choice), _uv(choice), _requirements(choice), _constraints(choice)]
    every += _conda(choice)
    if choice.demand.system == "windows":
        every += _windows(choice)
    else:
        every += [*_docker(choice), *_apt(choice)]
    return tuple(sorted(every, key=lambda way: way.kind != choice.demand.manager))


def requirements(choice: Choice) -> list[str]:
    """What is named on a command line: releases, wheels to hold, limits, and the other packages."""
    out = [pick.requirement for pick in choice.picks if not pick.build]
    out += [name for pick in choice.picks if pick.build for name in pick.needs_first]
    out += [pick.requirement for pick in choice.libraries if pick.asked]
    limited = {split(bound.requirement)[0] for bound in choice.bounds}
    out = [name for name in out if name not in limited]  # setuptools<70 stands for setuptools
    out += [bound.requirement for bound in choice.bounds]
    others = [one.text for one in choice.others if not one.constraint]
    return list(dict.fromkeys([*out, *(text for text in others if text[:3] != "-e ")]))


def check(choice: Choice) -> str:
    """The command that shows whether the set works; "" where none is known."""
    for pick in choice.picks:
        name = pick.package.split("-cu")[0]
        if name in CHECKS:
            return f'python -c "{CHECKS[name]}"'
    return ""


def quoted(words: list[str], windows: bool = False) -> str:
    """Words for a shell: quotes where one would read <, >, [, & or a space."""
    return " ".join(map(_on_windows if windows else _in_shell, words))


def _in_shell(word: str) -> str:
    if _PLAIN.fullmatch(word) and "\\" not in word:
        return word
    return shlex.quote(word) if _LIVE.search(word) else f'"{word}"'


def _on_windows(word: str) -> str:
    escaped = word.replace('"', '\\"')
    return word if _PLAIN.fullmatch(word) else f'"{escaped}"'


def _backend(choice: Choice) -> Pick | None:
    """The pick that is on PyTorch's own index."""
    return next((pick for pick in choice.picks if pick.backend), None)


def _index(choice: Choice, uv: bool = False) -> str:
    """The option that makes an installer look into PyTorch's own index as well."""
    pick = _backend(choice)
    if pick is None:
        return ""
    if in_old_list(pick.version):
        return f"-f {OLD_LIST} "
    own = f"--extra-index-url {index_of(pick.backend)} "
    return f"--torch-backend={pick.backend} " if uv else own


def index_options(choice: Choice) -> list[str]:
    """The options that make an installer look into PyTorch's own index as well."""
    return _index(choice).split()


def _compiled(choice: Choice) -> list[str]:
    return [pick.requirement for pick in choice.picks if pick.build]


def _pip(choice: Choice) -> Way:
    windows = choice.demand.system == "windows"
    python = f"py -{choice.python}" if windows else f"python{choice.python}"
    lines = [f"{python} -m venv .venv"]
    if choice.python in ("3.6", "3.7"):
        lines.append('python -m pip install "pip>=21.3"')
    return _typed(choice, "pip", "python -m pip", lines, _index(choice))


def _uv(choice: Choice) -> Way:
    lines = [f"uv venv --python {choice.python} .venv"]
    return _typed(choice, "uv", "uv pip", lines, _index(choice, uv=True))


def _typed(choice: Choice, kind: str, pip: str, lines: list[str], index: str) -> Way:
    """The commands of pip or uv, in an environment of their own."""
    windows = choice.demand.system == "windows"
    start = ".venv\\Scripts\\activate" if windows else ". .venv/bin/activate"
    put = "set {}={}" if windows else 'export {}="{}"'
    pairs = dict.fromkeys(pair for pick in choice.picks for pair in pick.variables)
    folders = (wanted.text for wanted in choice.others if wanted.text.startswith("-e "))
    editable = "".join(f" {folder}" for folder in folders)
    lines = [lines[0], start, *lines[1:], *(put.format(*pair) for pair in pairs)]
    lines.append(f"{pip} install {index}{quoted(requirements(choice), windows)}{editable}")
    lines += [f"{pip} install --no-build-isolation {name}" for name in _compiled(choice)]
    lines += _alone(choice, pip, windows)
    lines += [put.replace('"', "").format(*pair) for pair in choice.environment]
    return Way(kind, kind, "\n".join(lines))


def _alone(choice: Choice, pip: str, windows: bool = False) -> list[str]:
    """Of two packages with the same files one goes, and the other is written again."""
    if not choice.removes:
        return []
    modules = {own.module for name in choice.removes if (own := flavour(name))}
    kept = [
        pick.requirement
        for pick in choice.picks
        if (own := flavour(pick.package)) and own.module in modules
    ]
    yes = "" if pip.startswith("uv") else " -y"
    again = "--reinstall" if pip.startswith("uv") else "--force-reinstall"
    return [
        f"{pip} uninstall{yes} {' '.join(choice.removes)}",
        f"{pip} install {again} --no-deps {quoted(kept, windows)}",
    ]


def _requirements(choice: Choice) -> Way:
    lines = [f"# for Python {choice.python}; pip install -r requirements.txt -c constraints.txt"]
    lines += [_index(choice).strip()] if _index(choice) else []
    cured = next((f"{name}={value}" for name, value in choice.environment), "")
    flawed = {pick.requirement for pick in choice.picks if pick.cured}
    for name in requirements(choice):
        note = f"  # gpuwhy: ignore[broken-release] (works with {cured})" if name in flawed else ""
        lines.append(name + note)
    lines += [wanted.text for wanted in choice.others if wanted.text.startswith("-e ")]
    lines += [f"# then: pip install --no-build-isolation {name}" for name in _compiled(choice)]
    lines += [f"# then: {line}" for line in _alone(choice, "pip")]
    return Way("requirements", "requirements file", "\n".join(lines) + "\n", "requirements.txt")


def _constraints(choice: Choice) -> Way:
    exact = [f"{p.package}=={p.version}{_label(p)}" for p in (*choice.picks, *choice.libraries)]
    limits = [bound.requirement for bound in choice.bounds]
    limits += [one.text for one in choice.others if one.constraint]
    head = f"# for Python {choice.python}; use: pip install -c constraints.txt …"
    text = "\n".join([head, *sorted(exact), *limits]) + "\n"
    return Way("constraints", "constraints file", text, "constraints.txt")


def _label(pick: Pick) -> str:
    return f"+{pick.backend}" if pick.backend and pick.requirement.endswith(pick.backend) else ""


def _system(choice: Choice) -> tuple[str, str, Parts | None]:
    """The CUDA and the cuDNN of the system that the set needs, and the row that has packages."""
    need = {part.name: part.version for part in choice.needs}
    cuda, cudnn = need.get("CUDA", ""), need.get("cuDNN", "")
    return cuda, cudnn, parts(cuda, cudnn) if cuda else None


def _conda(choice: Choice) -> Iterator[Way]:
    cuda, _, row = _system(choice)
    if cuda and not (row and row.conda):
        return
    system = "".join(f"  - {word}\n" for word in row.conda.split()) if row else ""
    index = f"      - {_index(choice).strip()}\n" if _index(choice) else ""
    inner = "".join(
        f"      - {json.dumps(name, ensure_ascii=False)}\n" for name in requirements(choice)
    )
    text = (
        f"name: gpu\nchannels:\n  - conda-forge\ndependencies:\n  - python={choice.python}\n"
        f"  - pip\n{system}  - pip:\n{index}{inner}"
    )
    then = ["conda env create -f environment.yml"]
    if row and choice.demand.system != "windows":
        then.append("conda env config vars set LD_LIBRARY_PATH=$CONDA_PREFIX/lib")
    pip = "conda run -n gpu pip"
    then += [f"{pip} install --no-build-isolation {name}" for name in _compiled(choice)]
    then += _alone(choice, pip)
    yield Way("conda", "conda or mamba", text, "environment.yml", "; then: ".join(then))


def _docker(choice: Choice) -> Iterator[Way]:
    image = "" if _compiled(choice) else _image(choice)
    if not image:
        return
    names = requirements(choice)
    if image.startswith("tensorflow/"):  # it holds TensorFlow
        names = [name for name in names if not name.startswith("tensorflow")] or ["pip"]
    folders = {one.text for one in choice.others if one.url and "://" not in one.url}
    names = [name for name in names if name not in folders]
    pip = "python3 -m pip install --no-cache-dir"
    if _backend(choice):
        pip = f"{pip} uv && uv pip install --system --no-cache {_index(choice, uv=True)}".rstrip()
    alone = _alone(choice, "python3 -m pip")
    site = f"$VIRTUAL_ENV/lib/python{choice.python}"
    lines = [
        f"FROM {image}",
        "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ]
    for name, value in choice.environment:
        inside = value.replace(site, f"/usr/local/lib/python{choice.python}")
        lines.append(f"ENV {name}={inside}")
    lines.append("COPY constraints.txt .")
    if image.startswith("nvidia/"):
        lines.append("RUN apt-get update && apt-get install -y python3-pip")
    lines.append(" && ".join((f"RUN {pip} -c constraints.txt {quoted(names)}", *alone)))
    arch = "arm64" if choice.demand.arch == "aarch64" else "amd64"
    build = f"docker build --platform linux/{arch} -t gpu ."
    run = f"{build} && docker run --rm --gpus all gpu nvidia-smi"
    yield Way("docker", "Dockerfile", "\n".join(lines) + "\n", "Dockerfile", run)


def _image(choice: Choice) -> str:
    """The base image: TensorFlow's own, CUDA's, or Python's where the wheels bring CUDA."""
    cuda, _, row = _system(choice)
    if not cuda:
        return f"python:{choice.python}-slim"
    own = next((pick for pick in choice.picks if pick.package.startswith("tensorflow")), None)
    if own:
        return tensorflow_image(own.version) if len(choice.picks) == 1 else ""
    return row.image if row else ""


def _apt(choice: Choice) -> Iterator[Way]:
    """CUDA and cuDNN for a system: by apt, or from NVIDIA's archive."""
    cuda, cudnn, row = _system(choice)
    if not cuda:
        return
    if row and row.apt:
        title = f"CUDA {row.cuda} and cuDNN {row.cudnn} on the system"
        text = f"sudo apt-get install --no-install-recommends {row.apt}\n{_path(row.cuda)}"
        yield Way("apt", title, text, note=_REPOSITORY)
        return
    short = major_minor(row.cuda if row else cuda)
    title = f"CUDA {short}{f' and cuDNN {cudnn}' if cudnn else ''} on the system"
    if numbers(short)[0] >= 11:
        names = [f"cuda-libraries-{short.replace('.', '-')}", *_libcudnn(short, cudnn)]
        text = f"sudo apt-get install --no-install-recommends {' '.join(names)}\n{_path(short)}"
        yield Way("apt", title, text, note=_REPOSITORY)
        return
    file = runfile(short)
    note = f"the installer is in NVIDIA's archive, {ARCHIVE}"
    if cudnn:
        note += f"; cuDNN {cudnn} in {CUDNN_ARCHIVE}: unpack it in /usr/local/cuda-{short}"
    text = f"sudo sh {file} --silent --toolkit --override\n{_path(short)}"
    yield Way("archive", title, text, note=note)


def _path(cuda: str) -> str:
    return f"export LD_LIBRARY_PATH=/usr/local/cuda-{cuda}/lib64"


def _libcudnn(cuda: str, cudnn: str) -> list[str]:
    if not numbers(cudnn):
        return []
    major = numbers(cudnn)[0]
    return [f"libcudnn{major}-cuda-{numbers(cuda)[0]}" if major >= 9 else f"libcudnn{major}"]


def _windows(choice: Choice) -> Iterator[Way]:
    cuda, cudnn, row = _system(choice)
    if not cuda:
        return
    if row and row.installer:
        folder = rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{row.cuda}"
        lines = [
            row.installer,
            f"{row.archive}: copy its bin, include and lib into {folder}",
            rf'set "PATH={folder}\bin;{folder}\libnvvp;{folder}\extras\CUPTI\lib64;%PATH%"',
        ]
        title = f"CUDA {row.cuda} and cuDNN {row.cudnn} on Windows"
        note = "both from NVIDIA's archives of older releases"
        yield Way("windows", title, "\n".join(lines), note=note)
        return
    lines = [f"CUDA {cuda}: its installer is in {ARCHIVE}"]
    lines += [f"cuDNN {cudnn}: {CUDNN_ARCHIVE}; copy its bin into CUDA's"] if cudnn else []
    yield Way("windows", f"CUDA {cuda} on Windows", "\n".join(lines))
