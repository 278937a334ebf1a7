"""framework.cpu_only in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.installs import pip_newest
from gpuwhy.knowledge.messages import NO_GPU
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.shared.commands import torch_with_cuda
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.bitsandbytes import matching
from gpuwhy.rooms.text.common import NOT_FOUND, SAID_TO_FAIL, nothing_else, providers_matter, said_of
from gpuwhy.rooms.text.conditions import all_of, alone, any_of, field, line, no, no_errors, on_windows, with_
from gpuwhy.rooms.text.exactly import for_driver
from gpuwhy.rooms.text.inside_wsl import inside_wsl
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.package_ways import with_cuda
from gpuwhy.rooms.text.remedies import BITSANDBYTES
from gpuwhy.rooms.text.room import Text


def _nothing_but_listing(s: Symptom, r: Reading) -> bool:
    """Beside the listing of an environment the text has no error, and the system could have CUDA."""
    listed = ("torch.version_none", "torch.unavailable", "title.", "python.")
    return r.told.os != "macos" and all(o.signature.startswith(listed) for o in r.errors)


def _sees_gpu(s: Symptom, r: Reading) -> bool:
    """XLA registered the GPU: the driver works, and the build is one for GPUs."""
    return any("xla_gpu" in o.get("devices").lower() for o in r.all("tf.registered"))


def _made(case: Asked) -> Iterator[Fix]:
    """A driver that the text tells of may be too old for any build of today."""
    speaks = case.speaks or cuda_of_driver(case.driver) or ""
    if speaks and (old := for_driver(case, speaks)):
        yield old


TEXT = Text(
    "framework.cpu_only",
    signatures=(
        error("torch.refused_by_ui", r"your device does not support the current version of torch/cuda",
              "current version of torch/cuda", covers=("python.", "ending.own", "title.")),
        error("generic.cpu_program", r"cannot use (?:the )?(?:gpu|cuda) in (?:a )?cpu[- ]only \w+"
              r"|\b(?:gpu|cuda) (?:support |mode |backend )?(?:is |was )?not (?:enabled|compiled in"
              r"|built in)(?: in this (?:build|binary|version|release))?\W*$"
              r"|\b(?:tensorflow|torch|pytorch|mxnet|jaxlib|onnxruntime|paddlepaddle) [\d.]{1,12} \(cpu(?:[ -]only"
              r"| version| build)?\)"
              r"|\b(?:tensorflow|onnxruntime|paddlepaddle|mxnet)-gpu (?:is |was )?not installed\b",
              "cpu-only", "cpu only", "not enabled", "not compiled in", "not built in", "(cpu", "-gpu not",
              "-gpu is not", "-gpu was not", covers=("said.platform", "title.", "python.")),
        error("remark.cpu_listing", r"\b(?:tensorflow|pytorch)\S{0,12}\s+[\d.]{3,12}\s+(?:mkl|eigen|cpu|py[\d.]+_cpu)_(?:py\d|generic|mkl|0)", "tensorflow", "pytorch"),
        error("remark.cpu_chosen",
              r"^(?![^\n]*\b(?:want|prefer|would like|wish|no (?:gpu|card|nvidia)|without (?:a )?gpu|deliberately"
              r"|on purpose)\b[^\n]*\bcpu\b"
              r"|[^\n]*\bcpu\b[^\n]*\b(?:no (?:gpu|card|nvidia)|on purpose"
              r"|deliberately)\b)[^\n]*?\bcpu(?:[- ]only)? (?:version|build|package|variant|wheel"
              r"|release)s?\b[^\n]{0,40}\b(?:instead of|rather than|and not|not the)\b[^\n]{0,40}\b(?:gpu|cuda)\b"
              r"|\b(?:keeps?(?: on)?|always|still) (?:install|get|pull|download|pick|choos|resolv"
              r"|giv)\w*[^\n]{0,40}\bcpu(?:[- ]only)? (?:version|build|package|variant|wheel|release)",
              "cpu version", "cpu build", "cpu package", "cpu variant", "cpu wheel", "cpu release", "cpu-only", "cpu only", covers=("title.",)),
        error("ort.package", r"using this package of onnx ?runtime|appropriate package of onnx ?runtime", "package of onnx", covers=("memory.", "title.", "python.")),
        error(
            "jax.cpu_build",
            r"cuda-enabled jaxlib is not installed|has no attribute ['\"]gpuallocatorconfig",
            "cuda-enabled jaxlib", "gpuallocatorconfig",
            covers=("torch.falls_back", "python.attribute"),
        ),
        error("ct2.cpu", r"this ctranslate2 package was not compiled with cuda", "not compiled with cuda support"),
        error("mxnet.cpu", r"compile with use_cuda=1|operator \w+ is not (?:implemented|registered) for gpu", "use_cuda=1"),
        error("llama.no_gpu", r"no usable gpu found|not compiled with gpu offload support|no gpu offload", "no usable gpu found",
              "gpu offload support"),
        error("ollama.cpu_runners", r"dynamic llm libraries(?: runners=)? ?\[(?!\S*(?:cuda|rocm))cpu[\w ,]{0,120}\]", "dynamic llm libraries"),
        error("ort.entry_point",
              r"unable to find an entry point named 'ortsessionoptionsappendexecutionprovider_(?P<provider>cuda"
              r"|tensorrt)", "ortsessionoptionsappendexecutionprovider"),
        error("llama.no_blas", r"\bblas ?= ?0\b", "blas = 0", "blas=0", "blas =0", "blas= 0"),
        error("torch.version_none", r"torch\.version\.cuda\W{0,6}(?:is |= ?|returns? |== ?)?none"
              r"|cuda used to build pytorch: (?:none|could not collect)", "torch.version.cuda",
              "used to build pytorch"),
        error("torch.c_missing",
              r"module 'torch\._c' has no attribute '_cuda_(?:setdevice|getdevice|getdevicecount|init"
              r"|getcurrentrawstream)'", "module 'torch._c' has no attribute", covers=("python.attribute",)),
        error("torch.autocast_off", r"user provided device_type of 'cuda', but cuda is not available", "device_type of 'cuda'"),
    ),
    clues=(
        ("torch.refused_by_ui", 4.2, "the program's PyTorch sees no GPU: a build for the CPU, or a driver that is older than it"),
        ("generic.cpu_program", 4.6, "the program says that it was built for the CPU alone"),
        ("remark.cpu_chosen", 4.2, "the text says that the build for the CPU was installed"),
        ("remark.cpu_listing", 3.0, "the listing has a build for the CPU alone"),
        ("ort.package", 4.6, "this package of ONNX Runtime is not the one for the GPU"),
        *((one, -2.5, "CUDA's own runtime speaks: this build has it") for one in ("cuda.insufficient_driver",
            "tf.dso_mismatch", "cuda.compat_not_supported_on_device", "cuda.system_driver_mismatch")),
        ("windows.dotnet", 1.0, "{library}, or a DLL that it needs, is not found by the program"),
        ("torch.invalid_requested", 3.4, "CUDA is not available to PyTorch", with_("torch.unavailable", "told.cpu_torch")),
        ("title.trouble", 3.6, "the package index has no build with CUDA for a Jetson", all_of(nothing_else, line(r"\b(?:jetson|tegra|orin|xavier)\b"))),
        ("said.platform", 3.6, "this build has no such part"),
        ("told.tflow_select", 3.4, "conda chose the CPU build of TensorFlow ({build})", field("build", "mkl|eigen")),
        ("torch.xformers_unbuilt", 2.0, "xFormers has no CUDA part"),
        ("harmless.cpu_torch", -0.1, "the PyTorch that is named is a CPU build", no_errors),
        ("title.no_cuda", 2.0, "the text says that there is no CUDA"),
        ("torch.version_none", 4.2, "the installed PyTorch is a CPU build", _nothing_but_listing),
        ("torch.version_none", 1.0, "the installed PyTorch is a CPU build"),
        ("generic.cpu_used", 2.4, "the CPU is used"),
        ("tf.no_opkernel", 2.8, "the operation {op} exists for GPUs only, and this TensorFlow has none", all_of(field("op", "cudnn|nccl"), no(_sees_gpu))),
        ("tf.registered", 2.4, "no kernel is registered: the build has none for GPUs", field("none", ".")),
        ("tf.few_devices", 3.0, "TensorFlow has only {devices}", field("devices", r"(?!.*gpu).*cpu")),
        ("torch.namespace", 1.6, "{name} lacks an operator; this happens in a build without CUDA"),
        ("torch.cpu_build", 5.0, "this PyTorch was built without CUDA"),
        ("told.cpu_torch", 4.2, "the installed PyTorch is a CPU build", no(with_("packages.no_match", "windows.torch_dll"))),
        ("else.option", 5.0, "CUDA is not among the choices: the build behind the option is one for the CPU", line(r"invalid choice: '?(?:cuda|gpu|tensorrt)'? \(choose from[^\n]*cpu")),
        ("told.index_cpu", 3.0, "PyTorch was installed from the CPU index"),
        ("tf.built_cpu", 3.8, "the framework says that it was built without CUDA"),
        ("jax.cpu_build", 3.8, "this jaxlib was built without CUDA", no(with_("program."))),
        ("jax.cpu_build", 1.0, "this jaxlib was built without CUDA", with_("program.")),
        ("jax.falls_back", 2.8, "JAX sees no GPU; this happens with a jaxlib without CUDA"),
        ("jax.unknown_backend", 2.8, "JAX has no GPU backend"),
        ("ort.not_available", 3.6, "this ONNX Runtime has no CUDA provider", no(with_("windows.load_library", "ort.load_shared"))),
        ("ort.listed", 3.6, "this ONNX Runtime has no CUDA provider", all_of(providers_matter, no(with_("windows.load_library", "ort.load_shared")))),
        ("bnb.compiled", 3.6, "this bitsandbytes was built without CUDA", no(any_of(with_("torch.no_driver"), all_of(on_windows, with_("bnb.setup"))))),
        ("opencv.no_cuda", 4.0, "this build has no CUDA"),
        ("generic.cpu_build", 3.2, "this build has no CUDA"),
        ("torch.backend_missing", 2.8, "the library has no CUDA code"),
        ("torch.backend_missing", 4.2, "torchvision is a build for the CPU", line(r"torchvision::\w+' with arguments from the 'CUDA'")),
        ("generic.no_compatible", 1.2, "no GPU is found"),
        ("ext.not_installed", 1.6, "the CUDA part is not installed"),
        ("ct2.cpu", 4.4, "this CTranslate2 was built without CUDA"),
        ("paddle.cpu", 4.4, "the CPU package is installed"),
        ("mxnet.cpu", 4.2, "this MXNet was built without CUDA"),
        ("llama.no_gpu", 3.0, "this build has no GPU support"),
        ("torch.deserialize_cpu", 2.5, "CUDA is not available to PyTorch"),
        ("torch.unavailable", 1.9, "CUDA is not available to PyTorch", alone),
        ("ollama.cpu_runners", 3.8, "this Ollama has runners for the CPU alone"),
        ("ort.entry_point", 4.6, "this onnxruntime.dll is the build for the CPU"),
        ("llama.no_blas", 3.2, "llama.cpp was built without cuBLAS"),
        ("torch.unavailable", 2.8, "CUDA is not available to PyTorch, and on Windows plain pip installs the CPU build", all_of(alone, on_windows)),
        ("torch.no_nccl", 2.0, "this PyTorch has no NCCL"),
        ("torch.webui", 2.6, "PyTorch cannot use the GPU"),
        ("torch.nccl_no_gpu", 2.5, "PyTorch sees no GPU"),
        ("torch.bf16", 2.6, "without a GPU there is no bfloat16 either"),
        ("torch.c_missing", 4.4, "this PyTorch was built without CUDA"),
        ("torch.invalid_requested", 2.6, "CUDA is not available to PyTorch"),
        ("torch.no_runtime", 1.6, "no CUDA runtime is found"),
        ("torch.not_implemented_half", 2.4, "half precision runs on the CPU: the GPU is not used"),
        ("title.no_known_devices", 2.8, "TensorFlow knows no GPU"),
        ("title.cpu_listing", 1.6, "only the CPU is listed first"),
        ("tf.no_gpu_found", 2.0, "TensorFlow has no GPU"),
        ("tf.cpu_device_only", 2.0, "TensorFlow has only the CPU"),
        ("title.empty_devices", 2.2, "TensorFlow lists no GPU"),
        ("title.empty_list", 1.4, "the list of GPUs is empty"),
        ("title.cpu_device", 1.8, "only the CPU is listed"),
        ("title.gpu_unseen", 1.6, "no GPU is seen"),
        ("torch.falls_back", 0.8, "the work goes to the CPU"),
        ("torch.autocast_off", 2.0, "CUDA is not available to PyTorch"),
        ("packages.no_suitable", 1.8, "a dependency pulls in the CPU package"),
        ("told.package", 2.6, "the CPU package is listed", field("name", "tensorflow-cpu")),
        ("title.bare_false", 0.8, "the answer is False"),
        ("program.layout", 2.6, "the layout NCHW is refused: the operation runs on the CPU", no(with_("tf.skipping", "loader.tf_skip"))),
        ("setting.jax_chosen", 2.8, "JAX was told to use a GPU, and no build for one is installed"),
        ("setting.jax_none", 2.4, "JAX may have been told to use a GPU, and no build for one is installed"),
        ("setting.jax_platform", 3.0, "JAX was told to use a GPU, and no build for one is installed", field("value", "^(?:rocm|cuda|gpu)$")),
        ("title.bare_false", 2.4, "CUDA is not available to PyTorch", with_("torch.asks_cuda")),
        ("title.trouble", 1.2, "no GPU is found", said_of(NOT_FOUND)),
        ("title.trouble", 0.5, SAID_TO_FAIL, nothing_else),
    ),
    ladder=with_cuda,
    remedies=(
        *BITSANDBYTES,
        meant("Take the package with CUDA in place of the one for the CPU, and delete the folders bin and obj; it wants CUDA 12 and cuDNN 9 on PATH (before 1.19: CUDA 11.8 and cuDNN 8)",
              on.code("dotnet remove package Microsoft.ML.OnnxRuntime\ndotnet add package Microsoft.ML.OnnxRuntime.Gpu"),
              said="ort.entry_point"),
        meant("PyTorch: install its build with CUDA over the CPU build (for Windows the default index has only that); uv asks the driver which CUDA fits",
              torch_with_cuda(), by="torch", safe=True),
        meant("PyTorch from conda: replace the CPU build by the one with CUDA", "conda install -c conda-forge pytorch-gpu", by="torch", safe=True),
        meant(on.in_windows("JAX has no build with CUDA for Windows: use WSL 2, where its build for Linux works with this driver; or stay with the CPU"),
              inside_wsl("jx", "jax[cuda12]"), by="jax"),
        meant(on.in_linux("install it with CUDA", "JAX"), pip_newest("jax"), by="jax", safe=True),
        meant(on.in_windows("there is no GPU build from 2.11 on: use WSL 2, where today's TensorFlow works with this driver (install Ubuntu there, restart, choose a user); or TensorFlow 2.10 under Python 3.7 to 3.10 with CUDA 11.2 and cuDNN 8.1",
                            "TensorFlow"), inside_wsl("tf", "tensorflow[and-cuda]"), by="tensorflow"),
        meant(on.in_linux("install it with its CUDA libraries", "TensorFlow"), pip_newest("tensorflow"), by="tensorflow", safe=True),
        meant("ONNX Runtime: remove both packages, which share one folder, then install the GPU package alone",
              f"pip uninstall -y onnxruntime onnxruntime-gpu && {pip_newest('onnxruntime')}", by="onnxruntime", safe=True),
        meant("Install the build with CUDA of what speaks, in place of its build for the CPU: its page of releases names it", look=True),
    ),
    admitted_by=NO_GPU,
    made=_made,
    rather=matching,
)  # fmt: skip
