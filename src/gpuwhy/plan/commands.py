"""Commands: the same set as commands and files for uv, pip, conda, Docker, apt and Windows."""

import json
import re
import shlex
from collections.abc import Iterator

import msgspec

from gpuwhy.choose.choice import Choice
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.archs import ARCHIVE, CUDNN_ARCHIVE, Parts, parts, runfile, tensorflow_image
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
    every = [_typed(choice, "pip"), _typed(choice, "uv"), *_files(choice), *_conda(choice)]
    windows = choice.demand.system == "windows"
    every += _windows(choice) if windows else [*_docker(choice), *_apt(choice)]
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
    names = (pick.package.split("-cu")[0] for pick in choice.picks)
    return next((f'python -c "{CHECKS[name]}"' for name in names if name in CHECKS), "")


def quoted(words: list[str], windows: bool = False) -> str:
    """Words for a shell: quotes where one would read <, >, [, & or a space."""
    out = []
    for word in words:
        if _PLAIN.fullmatch(word) and (windows or "\\" not in word):
            out.append(word)
        elif windows:
            out.append('"{}"'.format(word.replace('"', '\\"')))
        else:
            out.append(shlex.quote(word) if _LIVE.search(word) else f'"{word}"')
    return " ".join(out)


def index_options(choice: Choice, uv: bool = False) -> list[str]:
    """The options that make an installer look into PyTorch's own index as well."""
    pick = next((pick for pick in choice.picks if pick.backend), None)
    if pick is None:
        return []
    if in_old_list(pick.version):
        return ["-f", OLD_LIST]
    if uv:
        return [f"--torch-backend={pick.backend}"]
    return ["--extra-index-url", index_of(pick.backend)]


def _afterwards(choice: Choice, pip: str) -> list[str]:
    """What is compiled against the rest; and of two packages with the same files one goes."""
    windows = choice.demand.system == "windows"
    built = [pick.requirement for pick in choice.picks if pick.build]
    out = [f"{pip} install --no-build-isolation {name}" for name in built]
    if not choice.removes:
        return out
    modules = {own.module for name in choice.removes if (own := flavour(name))}
    owners = [(pick.requirement, flavour(pick.package)) for pick in choice.picks]
    kept = [requirement for requirement, own in owners if own and own.module in modules]
    yes, again = (" -y", "--force-reinstall") if "uv" not in pip else ("", "--reinstall")
    out.append(f"{pip} uninstall{yes} {' '.join(choice.removes)}")
    return [*out, f"{pip} install {again} --no-deps {quoted(kept, windows)}"]


def _editable(choice: Choice) -> list[str]:
    return [wanted.text for wanted in choice.others if wanted.text.startswith("-e ")]


def _typed(choice: Choice, kind: str) -> Way:
    """The commands of pip or uv, in an environment of their own."""
    windows, uv = choice.demand.system == "windows", kind == "uv"
    python = f"py -{choice.python}" if windows else f"python{choice.python}"
    make = f"uv venv --python {choice.python} .venv" if uv else f"{python} -m venv .venv"
    lines = [make, ".venv\\Scripts\\activate" if windows else ". .venv/bin/activate"]
    if not uv and choice.python in ("3.6", "3.7"):
        lines.append('python -m pip install "pip>=21.3"')
    put, pip = "set {}={}" if windows else 'export {}="{}"', "uv pip" if uv else "python -m pip"
    pairs = dict.fromkeys(pair for pick in choice.picks for pair in pick.variables)
    lines += [put.format(*pair) for pair in pairs]
    words = [*index_options(choice, uv), quoted(requirements(choice), windows), *_editable(choice)]
    lines.append(f"{pip} install {' '.join(words)}")
    lines += _afterwards(choice, pip)
    lines += [put.replace('"', "").format(*pair) for pair in choice.environment]
    return Way(kind, kind, "\n".join(lines))


def _files(choice: Choice) -> Iterator[Way]:
    """Requirements, and constraints with everything that was chosen."""
    lines = [f"# for Python {choice.python}; pip install -r requirements.txt -c constraints.txt"]
    lines += [" ".join(index_options(choice))] if index_options(choice) else []
    cured = next((f"{name}={value}" for name, value in choice.environment), "")
    flawed = {pick.requirement for pick in choice.picks if pick.cured}
    for name in requirements(choice):
        note = f"  # gpuwhy: ignore[broken-release] (works with {cured})" if name in flawed else ""
        lines.append(name + note)
    lines += _editable(choice)
    lines += [f"# then: {line}" for line in _afterwards(choice, "pip")]
    text = "\n".join(lines) + "\n"
    yield Way("requirements", "requirements file", text, "requirements.txt")
    exact = []
    for pick in (*choice.picks, *choice.libraries):
        own = pick.backend and pick.requirement.endswith(pick.backend)
        exact.append(f"{pick.package}=={pick.version}" + (f"+{pick.backend}" if own else ""))
    limits = [bound.requirement for bound in choice.bounds]
    limits += [one.text for one in choice.others if one.constraint]
    head = f"# for Python {choice.python}; use: pip install -c constraints.txt …"
    text = "\n".join([head, *sorted(exact), *limits]) + "\n"
    yield Way("constraints", "constraints file", text, "constraints.txt")


def _system(choice: Choice) -> tuple[str, str, Parts | None]:
    """The CUDA and the cuDNN of the system that the set needs, and the row that has packages."""
    need = {part.name: part.version for part in choice.needs}
    cuda, cudnn = need.get("CUDA", ""), need.get("cuDNN", "")
    return cuda, cudnn, parts(cuda, cudnn) if cuda else None


def _conda(choice: Choice) -> Iterator[Way]:
    cuda, _, row = _system(choice)
    if cuda and not (row and row.conda):
        return
    system = row.conda.split() if row else []
    head = ["name: gpu", "channels:", "  - conda-forge", "dependencies:"]
    head += [f"  - {word}" for word in (f"python={choice.python}", "pip", *system, "pip:")]
    options = " ".join(index_options(choice))
    inner = [options] if options else []
    inner += [json.dumps(name, ensure_ascii=False) for name in requirements(choice)]
    text = "\n".join([*head, *(f"      - {one}" for one in inner)]) + "\n"
    then = ["conda env create -f environment.yml"]
    if row and choice.demand.system != "windows":
        then.append("conda env config vars set LD_LIBRARY_PATH=$CONDA_PREFIX/lib")
    then += _afterwards(choice, "conda run -n gpu pip")
    yield Way("conda", "conda or mamba", text, "environment.yml", "; then: ".join(then))


def _docker(choice: Choice) -> Iterator[Way]:
    """From TensorFlow's own image, CUDA's, or Python's where the wheels bring CUDA."""
    cuda, _, row = _system(choice)
    image = row.image if row else f"python:{choice.python}-slim" if not cuda else ""
    own = next((pick for pick in choice.picks if pick.package.startswith("tensorflow")), None)
    names = requirements(choice)
    if cuda and own:  # the image holds TensorFlow
        image = tensorflow_image(own.version) if len(choice.picks) == 1 else ""
        names = [name for name in names if not name.startswith("tensorflow")] or ["pip"]
    if not image or any(pick.build for pick in choice.picks):
        return
    folders = {one.text for one in choice.others if one.url and "://" not in one.url}
    names = [name for name in names if name not in folders]
    pip, options = "python3 -m pip install --no-cache-dir", index_options(choice, uv=True)
    if options:
        pip = f"{pip} uv && uv pip install --system --no-cache {' '.join(options)}"
    variables = "NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    lines = [f"FROM {image}", f"ENV {variables}"]
    for name, value in choice.environment:
        lines.append(f"ENV {name}={value.replace('$VIRTUAL_ENV', '/usr/local')}")
    lines.append("COPY constraints.txt .")
    if image.startswith("nvidia/"):
        lines.append("RUN apt-get update && apt-get install -y python3-pip")
    steps = [f"RUN {pip} -c constraints.txt {quoted(names)}"]
    lines.append(" && ".join([*steps, *_afterwards(choice, "python3 -m pip")]))
    arch = "arm64" if choice.demand.arch == "aarch64" else "amd64"
    build = f"docker build --platform linux/{arch} -t gpu ."
    run = f"{build} && docker run --rm --gpus all gpu nvidia-smi"
    yield Way("docker", "Dockerfile", "\n".join(lines) + "\n", "Dockerfile", run)


def _apt(choice: Choice) -> Iterator[Way]:
    """CUDA and cuDNN for a system: by apt, or from NVIDIA's archive."""
    cuda, cudnn, row = _system(choice)
    if not cuda:
        return
    short = row.cuda if row and row.apt else major_minor(row.cuda if row else cuda)
    cudnn = row.cudnn if row and row.apt else cudnn
    title = f"CUDA {short}{f' and cuDNN {cudnn}' if cudnn else ''} on the system"
    path = f"export LD_LIBRARY_PATH=/usr/local/cuda-{short}/lib64"
    packages = row.apt if row else ""
    if not packages and numbers(short)[0] >= 11:
        major = numbers(cudnn)[0] if numbers(cudnn) else 0
        libcudnn = f"libcudnn{major}" + (f"-cuda-{numbers(short)[0]}" if major >= 9 else "")
        packages = f"cuda-libraries-{short.replace('.', '-')} {libcudnn if major else ''}".rstrip()
    if packages:
        text = f"sudo apt-get install --no-install-recommends {packages}\n{path}"
        yield Way("apt", title, text, note=_REPOSITORY)
        return
    note = f"the installer is in NVIDIA's archive, {ARCHIVE}"
    if cudnn:
        note += f"; cuDNN {cudnn} in {CUDNN_ARCHIVE}: unpack it in /usr/local/cuda-{short}"
    text = f"sudo sh {runfile(short)} --silent --toolkit --override\n{path}"
    yield Way("archive", title, text, note=note)


def _windows(choice: Choice) -> Iterator[Way]:
    cuda, cudnn, row = _system(choice)
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
    elif cuda:
        lines = [f"CUDA {cuda}: its installer is in {ARCHIVE}"]
        lines += [f"cuDNN {cudnn}: {CUDNN_ARCHIVE}; copy its bin into CUDA's"] if cudnn else []
        yield Way("windows", f"CUDA {cuda} on Windows", "\n".join(lines))
