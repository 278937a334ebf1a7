"""Ways: the same set as commands and files for pip, uv, conda, Docker, apt and Windows; all exact and pinned."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.images import ARCHIVE, CUDNN_ARCHIVE, RUNFILES, Parts, parts, tensorflow_image
from gpuwhy.knowledge.variants import OLD_LIST, in_old_list, index_of
from gpuwhy.model.plan import Choice, Machine, Proposal, SystemPart, Way
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.plan.catalogue import split

_MIRRORED = ("torch", "torchvision", "torchaudio")
_REPOSITORY = "from NVIDIA's repository for Ubuntu, which must be set up first (see the CUDA installation guide)"


def ways(plan: Proposal, machine: Machine) -> tuple[Way, ...]:
    """Every way that fits the machine, the shortest first."""
    files = (_requirements(plan), _constraints(plan), _pyproject(plan))
    out = [_uv(plan, machine), _pip(plan, machine), *files, *_conda(plan, machine)]
    if machine.system != "windows":
        out += _docker(plan, machine)
        out += _apt(plan)
    else:
        out += _windows(plan)
    return tuple(out)


def requirements(plan: Proposal) -> list[str]:
    """What is named on a command line: the releases, wheels that must not be newer, caps and the other wishes."""
    out = [choice.requirement for choice in plan.choices if not choice.build]
    out += [name for choice in plan.choices if choice.build for name in choice.needs_first]
    out += [choice.requirement for choice in plan.libraries if choice.asked]
    limited = {split(cap.requirement)[0] for cap in plan.caps}
    plain = [name for name in out if name not in limited]  # setuptools and setuptools<70 are one word
    return list(dict.fromkeys([*plain, *(cap.requirement for cap in plan.caps), *_other_wishes(plan)]))


def _other_wishes(plan: Proposal) -> list[str]:
    return [wish.text for wish in plan.others if not wish.constraint and not wish.text.startswith("-e ")]


def _builds(plan: Proposal) -> list[str]:
    return [c.requirement for c in plan.choices if c.build]


def backend(plan: Proposal) -> str:
    """The name of PyTorch's own index where the set needs it."""
    return next((c.backend for c in plan.choices if c.backend), "")


def _own(plan: Proposal) -> str:
    """The option that makes uv look into PyTorch's own index."""
    if not backend(plan):
        return ""
    return f"{_address(plan)} " if _is_old(plan) else f"--torch-backend={backend(plan)} "


def _address(plan: Proposal) -> str:
    """The option that makes pip look into PyTorch's own index as well."""
    return f"-f {OLD_LIST}" if _is_old(plan) else f"--extra-index-url {index_of(backend(plan))}"


def _is_old(plan: Proposal) -> bool:
    return any(in_old_list(c.version) for c in plan.choices if c.backend)


def quoted(words: list[str], windows: bool = False) -> str:
    """Words for a shell: quotes where one would read <, >, [, & or a space."""
    return " ".join(map(_on_windows if windows else _in_shell, words))


_PLAIN = re.compile(r"[\w@%+=:,./\\#-]+")


_LIVE = re.compile(r"[\"$`\\]|!(?![= ])")
"""What a POSIX shell reads inside double quotes; of != its history makes nothing."""


def _in_shell(word: str) -> str:
    """A word for a POSIX shell; in double quotes where nothing inside needs more."""
    if _PLAIN.fullmatch(word) and "\\" not in word:
        return word
    return shlex.quote(word) if _LIVE.search(word) else f'"{word}"'


def _on_windows(word: str) -> str:
    """A word for Windows' shells, which know double quotes."""
    escaped = word.replace('"', '\\"')
    return word if _PLAIN.fullmatch(word) else f'"{escaped}"'


def _text(name: str) -> str:
    """A string for TOML and YAML, whose double-quoted strings are JSON's."""
    return json.dumps(name, ensure_ascii=False)


def _editable(plan: Proposal) -> str:
    return "".join(f" {w.text}" for w in plan.others if w.text.startswith("-e "))


def _uv(plan: Proposal, machine: Machine) -> Way:
    windows = machine.system == "windows"
    lines = [
        f"uv venv --python {plan.python} .venv",
        ".venv\\Scripts\\activate" if windows else ". .venv/bin/activate",
        *_before(plan, windows),
        f"uv pip install {_own(plan)}{quoted(requirements(plan), windows)}{_editable(plan)}",
    ]
    lines += [f"uv pip install --no-build-isolation {name}" for name in _builds(plan)]
    lines += _alone(plan, "uv pip uninstall", "uv pip install --reinstall --no-deps", windows)
    return Way("uv", "uv", "\n".join([*lines, *_variables(plan, windows)]))


def _pip(plan: Proposal, machine: Machine) -> Way:
    own = f"{_address(plan)} " if backend(plan) else ""
    windows = machine.system == "windows"
    start = f"py -{plan.python} -m venv .venv" if windows else f"python{plan.python} -m venv .venv"
    lines = [start, ".venv\\Scripts\\activate" if windows else ". .venv/bin/activate"]
    if plan.python in ("3.6", "3.7"):
        lines.append('python -m pip install "pip>=21.3"')
    lines += _before(plan, windows)
    lines.append(f"python -m pip install {own}{quoted(requirements(plan), windows)}{_editable(plan)}")
    lines += [f"python -m pip install --no-build-isolation {name}" for name in _builds(plan)]
    again = "python -m pip install --force-reinstall --no-deps"
    lines += _alone(plan, "python -m pip uninstall -y", again, windows)
    return Way("pip", "pip", "\n".join([*lines, *_variables(plan, windows)]))


def _alone(plan: Proposal, remove: str, install: str, windows: bool = False) -> list[str]:
    """What undoes that two packages with the same files were installed: one goes, the other is written again."""
    if not plan.removes:
        return []
    modules = {own.module for name in plan.removes if (own := flavour(name))}
    kept = [c.requirement for c in plan.choices if (own := flavour(c.package)) and own.module in modules]
    return [f"{remove} {' '.join(plan.removes)}", f"{install} {quoted(kept, windows)}"]


def _before(plan: Proposal, windows: bool) -> list[str]:
    """Variables that decide what is built, set before it is."""
    pairs = dict.fromkeys(pair for choice in plan.choices for pair in choice.variables)
    return [f"set {name}={value}" if windows else f'export {name}="{value}"' for name, value in pairs]


def _variables(plan: Proposal, windows: bool) -> Iterator[str]:
    for name, value in plan.environment:
        yield f"set {name}={value}" if windows else f"export {name}={value}"


def _requirements(plan: Proposal) -> Way:
    head = f"# for Python {plan.python}; use: {_tool(plan)} -r requirements.txt -c constraints.txt"
    index = [_address(plan)] if backend(plan) else []
    lines = [head, *index, *(f"{name}{_cured(plan, name)}" for name in requirements(plan))]
    lines += [w.text for w in plan.others if w.text.startswith("-e ")]
    lines += [f"# then: uv pip install --no-build-isolation {name}" for name in _builds(plan)]
    lines += [f"# then: {line}" for line in _alone(plan, "uv pip uninstall", "uv pip install --reinstall --no-deps")]
    return Way("requirements", "requirements file", "\n".join(lines) + "\n", "requirements.txt")


def _tool(plan: Proposal) -> str:
    """What reads a requirements file as it is meant; uv takes a package from the first index that has it."""
    return "pip install" if backend(plan) else "uv pip install"


def _cured(plan: Proposal, name: str) -> str:
    """A comment for a release that works only with a variable, which no requirement can set; lint reads it too."""
    release = next((c for c in plan.choices if c.requirement == name and c.cured), None)
    said = "".join(f"{variable}={value}" for variable, value in plan.environment)
    return f"  # gpuwhy: ignore[broken-release] (works with {said})" if release else ""


def _constraints(plan: Proposal) -> Way:
    exact = [f"{c.package}=={c.version}{_label(c)}" for c in (*plan.choices, *plan.libraries)]
    limits = [cap.requirement for cap in plan.caps] + [w.text for w in plan.others if w.constraint]
    head = f"# for Python {plan.python}; use: pip install -c constraints.txt …"
    return Way("constraints", "constraints file", "\n".join([head, *sorted(exact), *limits]) + "\n", "constraints.txt")


def _label(choice: Choice) -> str:
    """The label of a build that PyTorch's own index has, where the requirement carries it."""
    return f"+{choice.backend}" if choice.backend and choice.requirement.endswith(f"+{choice.backend}") else ""


def _pyproject(plan: Proposal) -> Way:
    major, minor = plan.python.rstrip("t").split(".")
    references = {wish.text for wish in plan.others if wish.url}
    wanted = [name for name in [*requirements(plan), *_builds(plan)] if name not in references]
    names = "".join(f"  {_text(name)},{_cured(plan, name)}\n" for name in wanted)
    text = (
        f'[project]\nname = "my-project"\nversion = "0.1.0"\nrequires-python = "=={major}.{minor}.*"\n'
        f"dependencies = [\n{names}]\n"
    )
    if _builds(plan) or _is_old(plan) or plan.removes:
        text += "\n[tool.uv]\n"
    if plan.removes:  # a marker that never holds: uv leaves the package out
        never = ", ".join(f"\"{name}; python_version < '3'\"" for name in plan.removes)
        text += f"override-dependencies = [{never}]\n"
    if _builds(plan):
        compiled = ", ".join(f'"{c.package}"' for c in plan.choices if c.build)
        text += f"no-build-isolation-package = [{compiled}]\n"
    text += _uv_index(plan)
    return Way("pyproject", "pyproject.toml", text, "pyproject.toml")


def _uv_index(plan: Proposal) -> str:
    """Where uv finds the builds of PyTorch's own index: for these packages alone."""
    if not backend(plan):
        return ""
    if _is_old(plan):
        return f'find-links = ["{OLD_LIST}"]\n'
    index = f'\n[[tool.uv.index]]\nname = "pytorch"\nurl = "{index_of(backend(plan))}"\nexplicit = true\n'
    sources = "".join(f'{c.package} = {{ index = "pytorch" }}\n' for c in plan.choices if c.package in _MIRRORED)
    return f"{index}\n[tool.uv.sources]\n{sources}"


def _system(plan: Proposal) -> Parts | None:
    """The row of the system CUDA that the set needs; None where it needs none, or none is known."""
    need: dict[str, SystemPart] = {part.name: part for part in plan.system}
    if "CUDA" not in need:
        return None
    cudnn = need["cuDNN"].version if "cuDNN" in need else ""
    return parts(need["CUDA"].version, cudnn)


def _conda(plan: Proposal, machine: Machine) -> Iterator[Way]:
    row = _system(plan)
    if any(part.name == "CUDA" for part in plan.system) and not (row and row.conda):
        return
    extra = "".join(f"  - {word}\n" for word in row.conda.split()) if row else ""
    index = f"      - {_address(plan)}\n" if backend(plan) else ""
    inner = index + "".join(f"      - {_text(name)}{_cured(plan, name)}\n" for name in requirements(plan))
    tools = f"  - pip\n{extra}  - pip:\n{inner}"
    text = f"name: gpu\nchannels:\n  - conda-forge\ndependencies:\n  - python={plan.python}\n{tools}"
    path = "conda env config vars set LD_LIBRARY_PATH=$CONDA_PREFIX/lib"
    then = [path] if row and machine.system != "windows" else []
    then += [f"conda run -n gpu pip install --no-build-isolation {name}" for name in _builds(plan)]
    pip = "conda run -n gpu pip"
    then += _alone(plan, f"{pip} uninstall -y", f"{pip} install --force-reinstall --no-deps")
    note = "; then: ".join(("conda env create -f environment.yml (or mamba)", *then))
    yield Way("conda", "conda or mamba", text, "environment.yml", note)


def _docker(plan: Proposal, machine: Machine) -> Iterator[Way]:
    if _builds(plan):
        return
    image, note = _image(plan)
    if not image:
        return
    pip = "python3 -m pip"
    alone = _alone(plan, f"{pip} uninstall -y", f"{pip} install --no-cache-dir --force-reinstall --no-deps")
    install = " && ".join((f"RUN {_installer(plan)} -c constraints.txt {quoted(_inside(plan, image))}", *alone))
    lines = [
        f"FROM {image}",
        "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        *(f"ENV {name}={_container(value, plan.python)}" for name, value in plan.environment),
        "COPY constraints.txt .",
    ]
    if image.startswith("nvidia/"):
        lines.append("RUN apt-get update && apt-get install -y python3-pip && rm -rf /var/lib/apt/lists/*")
    platform = "linux/arm64" if machine.machine == "aarch64" else "linux/amd64"
    run = f"docker build --platform {platform} -t gpu . && docker run --rm --gpus all gpu nvidia-smi"
    yield Way(
        "docker", "Dockerfile", "\n".join([*lines, install]) + "\n", "Dockerfile", "; ".join(filter(None, (run, note)))
    )


def _installer(plan: Proposal) -> str:
    pip = "python3 -m pip install --no-cache-dir"
    return f"{pip} uv && uv pip install --system --no-cache {_own(plan)}".rstrip() if backend(plan) else pip


def _container(value: str, python: str) -> str:
    return value.replace(f"$VIRTUAL_ENV/lib/python{python}", f"/usr/local/lib/python{python}")


def _image(plan: Proposal) -> tuple[str, str]:
    """The base image, and what is special about it."""
    if not any(part.name == "CUDA" for part in plan.system):
        return f"python:{plan.python}-slim", "the CUDA libraries come as wheels, so the image needs none"
    tensorflow = next((c for c in plan.choices if c.package in ("tensorflow", "tensorflow-gpu")), None)
    if tensorflow is not None:
        image = _fitting(tensorflow_image(tensorflow.version), plan)
        return image, "has TensorFlow, its CUDA and its cuDNN, and its own Python"
    row = _system(plan)
    return (row.image if row else ""), "its Python is the distribution's"


def _fitting(image: str, plan: Proposal) -> str:
    """TensorFlow's image; '' where something else of the set was chosen for another Python than it holds."""
    others = [choice for choice in plan.choices if not choice.package.startswith("tensorflow")]
    return "" if others and containers.read(image).python not in ("", plan.python) else image


def _inside(plan: Proposal, image: str) -> list[str]:
    """TensorFlow's image already holds TensorFlow."""
    folders = {wish.text for wish in plan.others if wish.url and "://" not in wish.url}  # are not in the image
    names = [name for name in requirements(plan) if name not in folders]
    return [n for n in names if not n.startswith("tensorflow")] or ["pip"] if image.startswith("tensorflow/") else names


def _apt(plan: Proposal) -> Iterator[Way]:
    row = _system(plan)
    if row is None or not row.apt:
        yield from _old_cuda(plan, row)
        return
    install = f"sudo apt-get install --no-install-recommends {row.apt}"
    text = f"{install}\nexport LD_LIBRARY_PATH=/usr/local/cuda-{row.cuda}/lib64"
    yield Way("apt", f"CUDA {row.cuda} and cuDNN {row.cudnn} on the system", text, note=_REPOSITORY)


def _old_cuda(plan: Proposal, row: Parts | None) -> Iterator[Way]:
    """Where a CUDA comes from that no row has packages of: NVIDIA's repository by its names, or the archive."""
    need = {part.name: part.version for part in plan.system}
    if "CUDA" not in need:
        return
    cuda, cudnn = major_minor(row.cuda if row else need["CUDA"]), need.get("cuDNN", "")
    with_cudnn = f" and cuDNN {cudnn}" if cudnn else ""
    path = f"export LD_LIBRARY_PATH=/usr/local/cuda-{cuda}/lib64"
    if numbers(cuda)[0] >= 11:
        names = [f"cuda-libraries-{cuda.replace('.', '-')}", *_libcudnn(cuda, cudnn)]
        text = f"sudo apt-get install --no-install-recommends {' '.join(names)}\n{path}"
        yield Way("apt", f"CUDA {cuda}{with_cudnn} on the system", text, note=_REPOSITORY)
        return
    file = RUNFILES.get(cuda, f"cuda_{cuda}_linux.run")
    text = f"sudo sh {file} --silent --toolkit --override\n{path}"
    note = f"the installer of CUDA {cuda} is in NVIDIA's archive, {ARCHIVE}"
    if cudnn:
        note += f"; cuDNN {cudnn} for it in {CUDNN_ARCHIVE}: unpack it in /usr/local/cuda-{cuda}"
    yield Way("archive", f"CUDA {cuda}{with_cudnn} on the system", text, note=note)


def _libcudnn(cuda: str, cudnn: str) -> list[str]:
    """The package of NVIDIA's repository that has a cuDNN."""
    if not numbers(cudnn):
        return []
    major = numbers(cudnn)[0]
    return [f"libcudnn{major}-cuda-{numbers(cuda)[0]}" if major >= 9 else f"libcudnn{major}"]


def _windows(plan: Proposal) -> Iterator[Way]:
    row = _system(plan)
    if row is None or not row.installer:
        yield from _windows_archive(plan)
        return
    folder = rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{row.cuda}"
    text = (
        f"{row.installer}\n{row.archive}: copy its bin, include and lib folders into {folder}\n"
        rf'set "PATH={folder}\bin;{folder}\libnvvp;{folder}\extras\CUPTI\lib64;%PATH%"'
    )
    yield Way(
        "windows", f"CUDA {row.cuda} and cuDNN on Windows", text, note="both from NVIDIA's archives of older releases"
    )


def _windows_archive(plan: Proposal) -> Iterator[Way]:
    """Where a CUDA comes from whose installer no row names."""
    need = {part.name: part.version for part in plan.system}
    if "CUDA" not in need:
        return
    lines = [f"CUDA {need['CUDA']}: its installer is in {ARCHIVE}"]
    if "cuDNN" in need:
        lines.append(f"cuDNN {need['cuDNN']} for it: {CUDNN_ARCHIVE}; copy its bin folder into CUDA's")
    yield Way("windows", f"CUDA {need['CUDA']} on Windows", "\n".join(lines), note="from NVIDIA's archives")
