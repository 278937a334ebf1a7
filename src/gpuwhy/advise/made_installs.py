"""Made from versions that the text states: which release of which package goes with the others."""

import re

from gpuwhy.advise import versions
from gpuwhy.advise.names import Names
from gpuwhy.advise.remedy import Action, Install, Remedy, Remove, Run, Set
from gpuwhy.knowledge.cudnn_rules import cudnn_dotted

_READABLE = 30  # characters of a bound that a sentence has room for
_FIRST_ON_PATH = (
    'export LD_LIBRARY_PATH=$(python -c "import nvidia.cudnn as n; print(list(n.__path__)[0])")/lib'
    ":$LD_LIBRARY_PATH"
)


def library_wheel(names: Names) -> Remedy | None:
    """Install the wheel that contains the library, and let it be found."""
    wheel, library = names.get("library_package"), names.get("library_file")
    framework = names.get("framework")
    windows = names.around.place.os == "windows"
    own = framework == "torch" and names.get("library_cuda") in ("", names.get("cuda_major"))
    if not wheel or own or (windows and framework != "onnxruntime"):
        return None
    folder = re.split(r"[=<>]", wheel)[0].replace("nvidia-", "", 1)
    module = re.sub(r"-cu\d+$", "", folder).replace("-", "_")
    found = f'$(python -c "import nvidia.{module} as m; print(list(m.__path__)[0])")/lib'
    export = {"linux": f"export LD_LIBRARY_PATH={found}:$LD_LIBRARY_PATH"}
    steps: tuple[Action, ...] = (Install((wheel,)), Run(export))
    if windows:
        steps = steps[:1]
    text = f"Install the package that contains {library}"
    text += ", and put its folder on the search path" if len(steps) > 1 else ""
    return Remedy(steps, text=text)


def cupy_of_library(names: Names) -> Remedy | None:
    """The CuPy package for the CUDA that its library's name shows, or for the installed one."""
    wanted = names.get("library_cuda").partition(".")[0]
    have = names.get("cuda_major")
    major = have if have in ("11", "12", "13") and have != wanted else wanted
    if major == wanted:
        spec = f"cupy-cuda{major}x[ctk]"
        text = f"Install CuPy with the CUDA {major} libraries that it needs"
        return Remedy((Install((spec,), upgrade=True),), text=text)
    text = f"Install the CuPy for CUDA {major}, which is installed"
    gone = Remove(("cupy", f"cupy-cuda{wanted}x"))
    return Remedy((gone, Install((f"cupy-cuda{major}x",))), text=text)


def onnxruntime_pair(names: Names) -> Remedy | None:
    """The release of ONNX Runtime and the CUDA and cuDNN that go together."""
    version = names.get("framework_version")
    library, cuda = names.get("library_file"), names.get("library_cuda") or names.get("cuda")
    windows = names.around.place.os == "windows"
    if "cudnn" in library and "8" in library:
        text = "Install cuDNN 8 for this ONNX Runtime, or ONNX Runtime 1.19, which uses cuDNN 9"
        steps: tuple[Action, ...] = (Install(("onnxruntime-gpu>=1.19",), upgrade=True),)
        if not windows:
            steps = (Install((f"nvidia-cudnn{names.get('suffix')}==8.*",)),)
        return Remedy(steps, text=text)
    if cuda.startswith("11"):
        text = "Install ONNX Runtime 1.19 or newer for CUDA 12; this one needs CUDA 11 and cuDNN 8"
        return Remedy((Install(("onnxruntime-gpu[cuda,cudnn]>=1.21",), upgrade=True),), text=text)
    if not version or not versions.older(version, "1.21"):
        text = "Install ONNX Runtime with the CUDA and cuDNN libraries that it needs"
        return Remedy((Install(("onnxruntime-gpu[cuda,cudnn]",), upgrade=True),), text=text)
    text = f"Install the CUDA 12 and cuDNN 9 libraries that ONNX Runtime {version} needs"
    return Remedy(
        (Install(("nvidia-cudnn-cu12==9.*", "nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12")),),
        text=text,
    )


def tensorflow_on_windows(names: Names) -> Remedy | None:
    """TensorFlow with a GPU on Windows: 2.10 with CUDA 11.2 and cuDNN 8.1, or WSL 2."""
    library, cuda = names.get("library_file"), names.get("library_cuda")
    version = names.get("framework_version")
    old = version and versions.older(version, "2.11")
    if library and (cuda or "cudnn" in library.lower()) and (old or not version):
        major = re.search(r"_(\d)\.dll", library, re.IGNORECASE)
        which = f"CUDA {cuda}" if cuda else f"cuDNN {major[1] if major else ''}".rstrip()
        if "11" in cuda:
            which = "CUDA 11.2"
        text = f"Install {which} and put its bin folder on PATH: {library} is in it"
        spec = _conda_pair(cuda, library)
        step: Action = Run({"windows": f"where {library}"})
        if names.around.place.manager == "conda" and spec:
            step = Install(spec, manager="conda")
        return Remedy((step,), text=text)
    text = (
        "Use TensorFlow 2.10 with CUDA 11.2 and cuDNN 8.1, the last with a GPU on Windows; or WSL 2"
    )
    command = (
        "conda create -n tf210 -c conda-forge python=3.10 cudatoolkit=11.2 cudnn=8.1.0"
        ' && conda run -n tf210 pip install "tensorflow<2.11" "numpy<2"'
    )
    if names.around.place.manager != "conda":
        command = (
            'py -3.10 -m venv tf210 && tf210\\Scripts\\pip install "tensorflow<2.11" "numpy<2"'
        )
    return Remedy((Run({"windows": command}),), text=text)


def _conda_pair(cuda: str, library: str) -> tuple[str, ...]:
    if cuda.startswith("11") or "8" in library:
        return ("cudatoolkit=11.2", "cudnn=8.1.0")
    if cuda.startswith("10"):
        return (f"cudatoolkit={cuda[:4]}", "cudnn=7.6")
    return ()


def tensorflow_for_library(names: Names) -> Remedy | None:
    """The CUDA that this TensorFlow opens, or the TensorFlow for the CUDA that is installed."""
    version, library = names.get("framework_version"), names.get("library_file")
    cuda = names.get("library_cuda")
    if version and not versions.older(version, "2.14"):
        text = "Install TensorFlow with the CUDA libraries that it was built for"
        return Remedy((Install((f"tensorflow[and-cuda]=={version}",)),), text=text)
    if cuda.startswith("10"):
        exact = cuda.split(" ")[0]
        text = f"Install CUDA {cuda}, which has {library}, beside the other release"
        if names.around.place.manager == "conda":
            return Remedy(
                (Install((f"cudatoolkit={exact}", "cudnn=7.6"), manager="conda"),), text=text
            )
        folder = f"/usr/local/cuda-{exact}/lib64"
        return Remedy((Set("LD_LIBRARY_PATH", folder, kind="path"),), text=text)
    return library_wheel(names)


def cudnn_of_build(names: Names) -> Remedy | None:
    """The cuDNN that the framework was built with, from the message that states both."""
    built = re.match(r"(\d+)\.(\d+)", cudnn_dotted(names.get("built")))
    if built is None or names.around.place.platform == "jetson":
        return None
    major, minor = int(built[1]), int(built[2])
    what = names.get("framework") or "the program"
    text = f"Install cuDNN {major}.{minor} or a newer {major}.x, for which {what} was built"
    if names.get("conda"):
        spec = f"cudnn>={major}.{minor},<{major + 1}"
        return Remedy((Install((spec,), manager="conda"),), text=text, fits=8)
    if major < 8:
        command = {"linux": f'sudo apt install "libcudnn{major}={major}.{minor}.*"'}
        text = f"Install cuDNN {major}.{minor}, for which {what} was built"
        return Remedy((Run(command),), text=text, root=True, fits=8)
    suffix = names.get("suffix") or "-cu13"
    if major == 8:  # before 8.9 there is none for CUDA 12, and none for 13 at all
        suffix = "-cu11" if minor < 9 else "-cu12" if suffix == "-cu13" else suffix
    steps: tuple[Action, ...] = (
        Install((f"nvidia-cudnn{suffix}>={major}.{minor},<{major + 1}",), upgrade=True),
    )
    if names.get("framework") == "tensorflow" and names.around.place.os != "windows":
        steps += (Run({"linux": _FIRST_ON_PATH}),)
    return Remedy(steps, text=text, fits=8)


def cudnn_of_release(names: Names) -> Remedy | None:
    """The cuDNN that a stated release of a framework was built with."""
    framework, version = names.get("framework"), names.get("framework_version")
    built = versions.cudnn_of(framework, version)
    if not built:
        return None
    major, _, rest = built.partition(".")
    minor = rest.partition(".")[0] or "0"
    if int(major) < 8:
        steps: Action = Install((f"cudnn={major}.{minor}",), manager="conda")
    else:
        bound = f">={major}.{minor},<{int(major) + 1}"
        steps = Install((f"nvidia-cudnn{names.get('suffix')}{bound}",))
    text = f"Install cuDNN {major}.{minor}, for which {framework} {version} was built"
    return Remedy((steps,), text=text)


def jax_with_cuda(names: Names) -> Remedy | None:
    """JAX with CUDA, of the stated release where it is an old one."""
    version = names.get("framework_version")
    if version and versions.older(version, "0.4.1"):
        text = f"Install JAX {version} with CUDA: the plain package is for the CPU"
        links = "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html"
        return Remedy((Run(f'pip install "jax[cuda]=={version}" -f {links}'),), text=text)
    text = "Install JAX with CUDA: the plain package is for the CPU"
    extra = "cuda13" if names.get("cuda_major") == "13" else "cuda12"
    return Remedy((Install((f"jax[{extra}]",), upgrade=True),), text=text)


def wanted_release(names: Names) -> Remedy | None:
    """The release of one package that another one requires."""
    name, wants = names.get("name"), names.get("wants").strip().strip(",;")
    if not re.fullmatch(r"[A-Za-z][\w.-]*", name):
        return None
    if re.fullmatch(r"\d[\w.*]*", wants):
        wants = f"=={wants}"
    if not re.match(r"[<>=!~]=?", wants):
        return None
    by = names.get("by")
    text = f"Install {name} {wants}" + (f", which {by} requires" if by else "")
    if by and len(wants) > _READABLE:
        text = f"Install the {name} that {by} requires"
    return Remedy((Install((f"{name}{wants.replace(' ', '')}",)),), text=text)
