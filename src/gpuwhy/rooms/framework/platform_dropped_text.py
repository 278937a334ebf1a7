"""framework.platform_dropped in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import CPU_BUILD, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error, told
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.bitsandbytes import for_windows
from gpuwhy.rooms.text.common import nothing_else, of_gpu_package, said_of
from gpuwhy.rooms.text.conditions import (
    all_of,
    any_of,
    field,
    line,
    no,
    on_macos,
    on_windows,
    unix_stack,
    whole,
    with_,
)
from gpuwhy.rooms.text.inside_wsl import inside_wsl
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import native_windows_tf, told_version
from gpuwhy.rooms.text.wheels import published

_TF_TEXT = on.in_windows(
    "TensorFlow 2.10 is the last one with a GPU on Windows itself: make an environment for it, with Python 3.10, CUDA 11.2 and cuDNN 8.1 (by conda; without it, both by NVIDIA's installers, on PATH)",
    "TensorFlow",
)
_TF_ENVIRONMENT = on.cmd(
    'conda create -n tf210 -c conda-forge python=3.10 cudatoolkit=11.2 cudnn=8.1.0\nconda run -n tf210 pip install "tensorflow<2.11" "numpy<2"'
)
_TF_IN_WSL = on.in_windows(
    "or a TensorFlow of today in WSL 2, which uses this driver: install Ubuntu there (restart, choose a user), then TensorFlow with its CUDA libraries",
    "TensorFlow",
)


_BEFORE_211 = told_version("tensorflow", r"1\.|2\.(?:\d|10)(?:\.|$)")


def _gpu_listed(s: Symptom, r: Reading) -> bool:
    return "device:GPU:" in r.excerpt


TEXT = Text(
    "framework.platform_dropped",
    signatures=(
        error("platform.no_wheel",
              r"\bno (?:\w+ )?(?:wheels?|builds?|binar\w{1,3}|packages?) (?:exists? )?(?:for|on) (?:win\w{0,8}"
              r"|windows|mac ?os\S{0,12}|osx\S{0,8}|musl\w{0,12}|alpine|linux_aarch64|aarch64|arm64|python ?3\.\d+"
              r"|cp3\d+)\b", "no ", covers=("python.",)),
        error("remark.no_build",
              r"\b(?:mac ?os(?: x)?|windows|arm64|aarch64|apple silicon|m[1-4] macs?)\b[^\n]{0,12}\b(?:wheels?"
              r"|builds?|packages?|binaries) (?:have|has|come|comes|are|is)[^\n]{0,12} (?:no|without) (?:cuda|gpu)"
              r"|\b(?:wheels?|builds?|packages?|binar\w{1,3}) (?:for|on) (?:mac ?os|windows|arm64"
              r"|aarch64)\b[^\n]{0,10} (?:has|have|comes?) (?:no|without) (?:cuda|gpu)"
              r"|\b(?:cuda|gpu)\b[^\n]{0,30}\b(?:removed|dropped|discontinued"
              r"|no longer (?:supported|available|exists?)) (?:on|from|for|in) (?:mac ?os|windows|os x)"
              r"|\bcuda(?:\.jl|-python)? is not supported on (?:mac ?os|darwin|windows|platform)"
              r"|platform (?:aarch64|arm64|x86_64)-apple-darwin",
              "have no", "has no", "without", "removed", "dropped", "discontinued", "no longer", "not supported on",
              "apple-darwin", covers=("platform.refused", "torch.cpu_build", "title.", "python.", "said.platform")),
        told("remark.channel", r"conda\.anaconda\.org/[\w.-]{1,40}/(?P<system>win-64|win-32|osx-64|osx-arm64)\b"
             r"|\b(?P<system2>win-64|osx-64|osx-arm64)/(?:current_)?repodata", "/win-64", "/win-32", "/osx-64",
             "/osx-arm64", "win-64/", "osx-64/", "osx-arm64/"),
        error("platform.refused", r"\bonly supports?(?: the)? linux"
              r"|\b(?:windows|win32|macos|darwin|mac os)(?: \w+)? is (?:currently )?not (?:yet )?supported"
              r"|\b(?:does(?:n't| not)|not) support(?:ed)? (?:natively )?(?:on )?(?:native )?(?:windows|macos|darwin"
              r"|win32)\b|(?:available|exists?|support\w*|wheels?|runs?)[^\n]{0,20} (?:on|for) linux only"
              r"|(?:supported|works?|runs?|available) only (?:on|for|under) linux",
              "linux", "not supported", "not yet supported", "support windows", "support macos", "support darwin",
              "supported on", "supported natively", "support native", covers=("python.", "title.trouble",
                  "python.exception")),
        error("packages.unresolved", r"resolvepackagenotfound", "resolvepackagenotfound"),
        error("bnb.windows_path", r"argument of type 'windowspath' is not iterable", "type 'windowspath' is not", covers=("python.",)),
        error("packages.other_python",
              r"package '(?P<name>(?:tensorflow|torch|jax|cupy|onnxruntime|vllm|numba|triton|tensorrt|paddlepaddle"
              r"|xformers|flash[-_]attn|cudf|cuml"
              r"|nvidia)[\w-]{0,40})' requires a different python: (?P<has>[\d.]+) not in",
              "requires a different python", covers=("python.", "title.")),
        error("triton.missing", r"cannot find a working triton installation|no module named '?triton(?!\. ?[a-z])|triton is not (?:available|installed)",
              "working triton", "named 'triton", "named triton", "triton is not available", "triton not available",
              covers=("python.module",)),
        error(
            "tf.windows_dropped",
            r"gpu support is not available on native windows|tensorflow\s*>=?\s*2\.11[^\n]*windows"
            r"|support\w*[^\n]{0,30}native[- ]windows[^\n]{0,60}2\.1[01]|windows[^\n]{0,60}(?:only )?up ?to 2\.10"
            r"|(?:after|since|from|beyond|above) 2\.1[01]\b[^\n]{0,40}\b(?:wsl|native windows|on windows)|2\.10 (?:is|was) (?:the )?last[^\n]{0,60}windows",
            "wsl", "on windows", "native windows", "native-windows", "upto 2.10", "up to 2.10",
            "not available on native windows",
            ">=2.11",
            ">= 2.11",
        ),
        error("title.python_version",
              r"(?:for|on|with|under) python ?3\.\d+[^\n]{0,20}(?:not|un)[ -]?(?:available|supported)"
              r"|(?:no|missing) (?:wheels?|support|builds?|versions?|packages?) (?:available )?for (?:python ?3\.\d+"
              r"|macos|windows|arm64|aarch64)|python ?3\.\d+ (?:is )?(?:not|un)[ -]?supported"
              r"|support (?:for )?python ?3\.\d+", "python 3.", "python3.", "for macos", "for windows", "for arm64",
              "for aarch64"),
        error("loader.musl", r"error loading shared library \W*(?P<library>ld-linux[\w.-]+)"
              r"|error relocating (?P<object>[^\n:]+): \w+: symbol not found", "error loading shared library",
              "error relocating",
              covers=("loader.cannot_open", "loader.undefined_symbol", "title.library", "python.runtime", "python.exception")),
        error("packages.not_installed", r"couldn't install (?P<package>torch)\b", "couldn't install torch", covers=("python.runtime", "python.exception")),
        error("torch.libuv", r"use_libuv was requested but pytorch was buil[dt] without libuv", "use_libuv was requested"),
        error("title.cpu_listing", r"^\[name: \"/device:cpu:0\"", "/device:cpu:0"),
        error("title.version_and_none", r"^(?P<version>2\.\d+\.\d+) \[\]\s*$", "[]"),
        error("torch.compile_windows", r"windows not yet supported for torch\.compile|torch\.compile[^\n]{0,40}not supported on windows", "torch.compile"),
    ),
    clues=(
        ("platform.no_wheel", 4.4, "no such build exists for this system or Python"),
        ("remark.no_build", 4.6, "no build with CUDA exists for this system"),
        ("remark.channel", 4.4, "the channels of {system} have no such package: it exists for Linux alone", whole(r"(?s)(?:not available from current channels|nothing provides"
            r"|ResolvePackageNotFound).{0,200}^\s*- (?:cudf|cuml|cugraph|rapids|dask-cudf|cucim|rmm|raft-dask|nccl"
            r"|faiss-gpu|triton|pytorch-cuda|tensorflow-gpu|jaxlib\S*cuda)")),
        ("packages.unresolved", 4.4, "the channels have no such package for this system: it exists for Linux alone",
         all_of(on_windows, whole(r"(?is)resolvepackagenotfound.{0,200}^\s*- (?:[\w-]+::)?(?:cudf|cuml|cugraph"
                                  r"|rapids|dask-cudf|cucim|rmm|raft-dask|nccl|faiss-gpu|triton|tensorflow-gpu"
                                  r"|jaxlib\S*cuda)"))),
        ("tf.no_opkernel", 4.4, "TensorFlow for Windows has no NCCL: {op} is not in it", all_of(field("op", "nccl"), on_windows)),
        ("platform.refused", 4.4, "the package does not support this system", of_gpu_package),
        ("bnb.windows_path", 4.4, "bitsandbytes opens a library of Linux, and this is Windows: that release has no build for it", with_("bnb.setup", "bnb.compiled")),
        ("tf.op_library", 2.2, "{library} does not exist for this system"),
        ("loader.mac_symbol", 3.6, "{symbol} is of a newer macOS", field("symbol", "_OBJC|_MPS")),
        ("tf.windows_dropped", 5.2, "TensorFlow has no GPU support on native Windows since 2.11"),
        ("title.python_version", 2.6, "the text says that there is no release for this Python or system"),
        ("packages.no_match", 3.6, "there is no {package} {version} for this Python or system", no(with_("python.http"))),
        ("torch.compile_windows", 4.4, "torch.compile does not run on this system"),
        ("packages.virtual_cuda", 1.6, "conda has no such build for this system"),
        ("packages.wrong_platform", 3.8, "the wheel is for another Python or system"),
        ("packages.gpu_removed", 4.2, "tensorflow-gpu no longer exists"),
        ("tf.built_cpu", 4.2, "TensorFlow on native Windows is built without CUDA since 2.11", on_windows),
        ("tf.built_cpu", 2.9, "no CUDA build of this release exists for native Windows"),
        ("title.empty_devices", 2.8, "TensorFlow lists no GPU on Windows", all_of(on_windows, no(_BEFORE_211))),
        ("title.empty_devices", 1.6, "TensorFlow lists no GPU"),
        ("title.cpu_device", 2.4, "only the CPU is listed on Windows", all_of(on_windows, no(_BEFORE_211))),
        ("title.gpu_unseen", 2.8, "TensorFlow 2.11 or newer has no GPU support on native Windows", native_windows_tf),
        ("title.gpu_unseen", 2.3, "no GPU is seen, and TensorFlow is 2.11 or newer", told_version("tensorflow", r"2\.(1[1-9]|2\d)")),
        ("title.gpu_unseen", 2.2, "macOS has no CUDA", on_macos),
        ("title.empty_list", 3.2, "TensorFlow 2.11 or newer has no GPU support on native Windows", native_windows_tf),
        ("title.empty_list", 2.6, "macOS has no CUDA", on_macos),
        ("title.bare_false", 2.6, "macOS has no CUDA", on_macos),
        ("torch.cpu_build", 3.0, "macOS has no CUDA", on_macos),
        ("packages.other_python", 4.0, "this release of {name} does not exist for Python {has}"),
        ("triton.missing", 3.0, "Triton does not exist for this system", no(any_of(unix_stack, with_("windows.load_library", "ort.")))),
        ("triton.missing", 1.6, "Triton may not exist for this system", no(with_("windows.load_library", "ort."))),
        ("torch.libuv", 5.0, "PyTorch for Windows is built without libuv"),
        ("title.version_and_none", 4.4, "TensorFlow {version} has no GPU support on native Windows", all_of(on_windows, field("version", r"2\.(1[1-9]|2\d)"))),
        ("bnb.compiled", 4.6, "this bitsandbytes is one for Linux: its library is a .so, in a folder of Windows", line(r"[a-z]:[\\/][^\n]*libbitsandbytes\w*\.so")),
        ("bnb.compiled", 2.6, "bitsandbytes had no build for Windows", on_windows),
        ("bnb.setup", 3.2, "bitsandbytes looks for a Linux library on Windows", on_windows),
        ("loader.musl", 5.0, "the library is made for glibc, and this system (Alpine) has musl"),
        ("title.cpu_listing", 2.4, "only the CPU is listed on Windows", all_of(on_windows, no(_gpu_listed), no(_BEFORE_211))),
        ("packages.not_installed", 3.8, "pip could not install {package} for this Python or system"),
        ("jax.falls_back", 4.0, "JAX has no build with CUDA for Windows", on_windows),
        ("title.cpu_listing", 4.4, "TensorFlow 2.11 or newer has no GPU support on native Windows", all_of(native_windows_tf, no(_gpu_listed))),
        ("torch.no_nccl", 4.2, "NCCL does not exist for Windows", on_windows),
        ("torch.no_nccl", 2.8, "NCCL does not exist for Windows"),
        ("python.glibc", 2.2, "this system's C library is older than the build needs"),
        ("loader.version_missing", 2.2, "this system's C library is older than the build needs", field("version", "glibc_")),
        ("tf.no_gpu_found", 1.4, "TensorFlow has no GPU", on_windows),
        ("title.trouble", 1.8, "the system is said not to be supported", said_of(r"(?:windows|macos|mac)\b[^\n]{0,40}(?:not|un) ?support")),
        ("title.trouble", 0.7, "the text says that the GPU fails on Windows", all_of(nothing_else, on_windows)),
    ),
    remedies=(
        meant(on.in_windows("take the packages that the message lists out of the environment's file (they exist for Linux alone), or put in their place what Windows has: tensorflow 2.10 from pip with cudatoolkit=11.2 and cudnn=8.1.0, cupy instead of cucim; or make the environment in WSL 2"),
              on.cmd("conda env create -f environment.yml"), said="packages.unresolved"),
        meant("This wheel is for Python {major}.{minor} on its own system and processor: make an environment with that Python, and install it there",
              "uv venv --python {major}.{minor} .venv", said="packages.wrong_platform", line=r"-cp(?P<major>3)(?P<minor>\d{1,2})-",
              safe=True, more=True),
        meant(on.in_macos("this tensorflow-metal is built for a newer macOS: update macOS, or take the plug-in out and use the CPU"),
              "pip uninstall -y tensorflow-metal", said="loader. tf. python. title. packages.", line=r"metal_plugin|tensorflow-metal",
              safe=True),
        meant("Use a base image with glibc: wheels and CUDA's libraries do not run on Alpine's musl", on.dockerfile("FROM debian:bookworm-slim    # or python:3.12-slim, node:22-slim, nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
              said="loader.musl", safe=True),
        meant(on.in_windows("JAX has no build with CUDA for Windows: use WSL 2, where its build for Linux works with this driver; or stay with the CPU"),
              inside_wsl("jx", "jax[cuda12]"), said="jax.falls_back"),
        meant("Switch libuv off for the rendezvous of torch.distributed; on Windows the backend is gloo", "export USE_LIBUV=0", said="torch.libuv", safe=True),
        meant("Lightning: use gloo, which works on Windows; or one GPU (devices=1), which needs no backend",
              "export PL_TORCH_DISTRIBUTED_BACKEND=gloo", said="torch.no_nccl", by="lightning", safe=True),
        meant("Use the backend gloo, which Windows has: init_process_group('gloo'), or the setting \"backend\" of the program's configuration; one GPU needs none; NCCL only with Linux, so with WSL 2",
              said="torch.no_nccl", safe=True),
        meant(on.in_windows("install triton-windows of the series that belongs to this PyTorch; or work in WSL 2, where triton itself runs"),
              "pip install -U triton-windows", said="triton.missing torch.compile_windows", safe=True),
        meant(on.in_windows("leave triton out (no torch.compile), or install triton-windows of the series that belongs to this PyTorch; or work in WSL 2, where triton itself runs"),
              "pip install -U triton-windows", said="packages.no_match", line=r"\btriton\b", safe=True),
        meant(_TF_TEXT, _TF_ENVIRONMENT, said="packages.no_match packages.gpu_removed", line="tensorflow", safe=True),
        meant(_TF_IN_WSL, inside_wsl("tf", "tensorflow[and-cuda]"), said="packages.no_match packages.gpu_removed", line="tensorflow"),
        meant("Check which releases there are, for which Pythons and systems", "gpuwhy releases {wanted}", said="packages.no_match",
              line=r"(?:found for|requirement) (?P<wanted>[\w.-]*\w)", safe=True, look=True),
        meant(_TF_TEXT, _TF_ENVIRONMENT, by="tensorflow", safe=True),
        meant(_TF_IN_WSL, inside_wsl("tf", "tensorflow[and-cuda]"), by="tensorflow"),
        meant("Use a Python that the release has wheels for", "python --version", look=True),
    ),
    admitted_by=(*NO_GPU, *CPU_BUILD),
    rather=for_windows,
    named=published,
)  # fmt: skip
