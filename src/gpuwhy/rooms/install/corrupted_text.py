"""install.corrupted in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.installs import wheel_of
from gpuwhy.knowledge.messages import NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_GPU, NO_START, UNRESOLVED
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import USER
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.common import cut_short, of_gpu_package
from gpuwhy.rooms.text.conditions import (
    all_of,
    asks,
    by_package,
    field,
    in_packages,
    line,
    no,
    own_module,
    own_symbol,
    wants,
    whole,
    with_,
)
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.package_ways import whole_again
from gpuwhy.rooms.text.remedies import BAKED
from gpuwhy.rooms.text.room import Text

_PARTS = r"(?:torch|jaxlib|onnxruntime)\.(?!_C\b)\w|tensorflow\.python\.\w|jax\._src|cupy(?:_backends)?\.(?:cuda|_core)"


_CONDA_FILE = re.compile(r"(/[^\s:'\"]*(?:conda|/envs?/)[^\s:'\"]*|/[^\s:'\"]*/env)/lib/(lib[\w+.-]+\.so[\d.]*)")


def normal(text: str) -> str:
    """Paths without their steps back: torch/lib/../../x is x."""
    while (shorter := re.sub(r"/(?!\.\./)[^/\s:'\"]+/\.\.(?=/)", "", text)) != text:
        text = shorter
    return text


def _of_conda(file: str) -> Iterator[Fix]:
    """The package that brought a file of a conda environment's own lib folder."""
    package = "mkl" if file.startswith("libmkl") else "PACKAGE"
    if package == "PACKAGE":
        text = f"Check which of conda's packages brought {file}"
        yield Fix(text, on.linux(f"grep -l '/{file}' $CONDA_PREFIX/conda-meta/*.json"), safe=True, role="look")
    text = f"Install conda's package again that brought {file}: the file is damaged"
    yield Fix(text, f"conda clean --packages --tarballs -y\nconda install --force-reinstall -y {package}")


_WHEEL_FILE = re.compile(r"-packages[\\/]+nvidia[\\/]+(?:\w+)[\\/]+lib[\\/]+(lib\w+\.so[.\d]*\d|lib\w+\.so)")
_OF_WHEEL = re.compile(r"nvidia-[\w-]+-cu(\d\d)|\+cu(\d\d)\d|\.so\.(1[123])\b")


def _of_nvidia(lines: str) -> str:
    """NVIDIA's wheel that a damaged library is of, by its folder and name."""
    found, major = _WHEEL_FILE.search(lines), _OF_WHEEL.search(lines)
    told = next(filter(None, major.groups()), "12") if major else "12"
    return wheel_of(found[1], int(told)) if found else ""


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """The package whose file could not be loaded, by the path in the message or by who opened it."""
    lines = "\n".join(
        s.text for s in symptoms if s.signature.startswith(("windows.", "packages.damaged", "loader.corrupt"))
    )
    conda = _CONDA_FILE.search(normal(lines))
    if conda and "-packages" not in conda[1]:
        yield from _of_conda(conda[2])
        return
    found = re.search(r"site-packages[\\/]+(\w+)|bad crc-32 for file '(?P<top>\w+)/", lines, re.IGNORECASE)
    owners = [one.owner for one in reversed(reading.ending.stack) if one.owner not in ("", "user", "python")]
    owners += re.findall(r"site-packages[\\/]+(\w+)[\\/]", reading.excerpt)[::-1]
    name = found[1] or found["top"] if found else next(iter(owners), "") if lines else ""
    if wheel := _of_nvidia(lines):
        text = f"Install {wheel} again, past the cache: its file is damaged, or not the one that it brought"
        yield Fix(text, f"pip install --force-reinstall --no-cache-dir --no-deps {wheel}", safe=True)
    elif name and name != "nvidia":  # a folder of many packages
        text = f"Install {name} again, past the cache: a file of it is damaged, or not the one that it brought"
        yield Fix(text, f"pip install --force-reinstall --no-cache-dir {name}", safe=True)


def _of_its_package(s: Symptom, r: Reading) -> bool:
    """A package's own code, as it is installed, misses a compiled part of that package."""
    return (
        r.ending.owner not in ("", USER)
        and s.get("name").split(".")[0].lower() == r.ending.owner
        and "." in s.get("name")
    )


_INSTALLING = r"\b(?:pip|conda|mamba|uv|apt(?:-get)?|dpkg|dnf|install\w*|reinstall\w*|upgrad\w+|uninstall\w*|unpack\w*|download\w*|extract\w*|copy\w*|update)\b"
_BROKEN_OFF = r"(?:half ?-?way|interrupted|abort(?:ed|ing)|cancell?ed|killed|power (?:went|was|cut|fail\w*|outage)|ctrl-?c|disk (?:was |got |is )?(?:filled|full)|quota exceeded|connection (?:dropped|broke|lost))"

TEXT = Text(
    "install.corrupted",
    signatures=(
        error("ggml.other_release", r"failed to find ggml_backend_init|incompatible (?:ggml )?backend (?:api )?version"
              r"|failed to find ggml_backend_score", "ggml_backend_init", "ggml_backend_score", "backend version",
              "backend api version", covers=("title.", "llama.no_gpu", "generic.no_compatible")),
        error("model.header_cut", r"error while deserializing header|metadataincompletebuffer|headertoolarge"
              r"|invalidheaderdeserialization|tensor '[^'\n]*' data is not within the file bounds"
              r"|failed to read magic|unexpected end of file while reading|model is corrupted or incomplete",
              "deserializing header", "incompletebuffer", "headertoolarge", "invalidheader", "file bounds",
              "read magic", "corrupted or incomplete", covers=("python.runtime", "title.")),
        error("files.partly_there",
              r"files are missing or corrupted|(?:archive|file) was only partially (?:extracted|downloaded)"
              r"|download was interrupted or", "missing or corrupted", "only partially", "download was interrupted",
              covers=("title.",)),
        error("packages.unreadable",
              r"^\W{0,4}(?:SyntaxError|IndentationError|TabError): (?:\(unicode error\)|'.' was never closed"
              r"|unterminated|unexpected (?:eof|indent)|expected an indented block"
              r"|source code (?:string )?cannot contain null|invalid non-printable|unindent does not match|unmatched"
              r"|null byte|inconsistent use of tabs)", "syntaxerror: ", "indentationerror: ", "taberror: "),
        error("packages.syntax", r"^\W{0,4}SyntaxError: invalid syntax", "syntaxerror: invalid syntax"),
        error("packages.no_start",
              r"(?:site|dist)-packages[\\/][^\s\"']{1,200}[\"']?: exec\w* failed: (?P<what>exec format error"
              r"|permission denied|no such file)", " failed: ", covers=("limit.", "torch.", "python.", "title.",
            "driver.")),
        error("jax.ffi_missing", r"no ffi handler registered for (?P<name>\w{1,80}) on a platform cuda", "no ffi handler", covers=("jax.", "python.", "title.")),
        error("packages.no_init", r"dynamic module does not define (?:module export|init) function \(?(?P<what>\w{1,80})", "dynamic module does not define"),
        error("remark.cut", r"error in md5 checksums|\bmd5(?:sum| checksum)? mismatch|unexpected end of file or stream"
              r"|\blisted in record\b[^\n]{0,20}\b(?:deleted|gone|missing|removed)"
              r"|\b(?:copied|copy|transfer|download|scp|rsync)\b[^\n]{0,30}\bbroken? off"
              r"|\bdisk (?:had |was |is |got )?(?:filled up|full|ran full) (?:during|while)\b"
              r"|\bsize \d+ instead of [\d.]+", "md5", "end of file or stream", "listed in record", "broke off",
              "broken off", "filled up", "full during", "full while", "instead of"),
        error("remark.broken_off", rf"{_INSTALLING}[^\n]{{0,60}}\b{_BROKEN_OFF}|{_BROKEN_OFF}[^\n]{{0,30}}\b(?:during|while|in the middle of)\b[^\n]{{0,20}}{_INSTALLING}",
              "half way", "halfway", "half-way", "interrupted", "abort", "cancel", "killed", "power ", "ctrl-c", "ctrlc", "disk ", "quota exceeded", "connection "),
        error("remark.torn",
              r"ignoring invalid distribution [-~](?P<rest>orch\w*|ensorflow\w*|ensorboard|axlib|ax|upy\w*"
              r"|nnxruntime\w*|riton|vidia[\w-]*|umba|umpy|addlepaddle\w*|formers|itsandbytes|llm|eras|lash[\w-]*)\b",
              "ignoring invalid distribution", covers=("packages.damaged_words",)),
        error("packages.tool_damaged", r"\b(?P<name>cicc|ptxas|nvcc|fatbinary|nvlink|cudafe\+\+|cuda-gdb"
              r"|nvidia-smi)\b[^\n]{0,60}(?:exec format error|truncated|cannot execute(?: binary)?|text file busy)"
              r"|exec format error: '[^'\n]{0,300}?[\\/](?:site"
              r"|dist)-packages[\\/][^'\n]{1,200}[\\/](?P<name2>[\w.+-]{1,60})'"
              r"|exec format error: '[^'\n]{0,300}?(?P<name3>cicc|ptxas\S{0,20}|nvcc|fatbinary|nvlink|cudafe\+\+"
              r"|cuda-gdb|nvidia-smi|nvdisasm|cuobjdump)'", "exec format error", "truncated", "cannot execute",
              "text file busy"),
        error("loader.garbled", r"(?:importerror|oserror): [^\w/.\s][^\n/]{0,12}: cannot open shared object file",
              "cannot open shared object", covers=("python.", "loader.cannot_open", "title.")),
        error("packages.damaged", r"bad crc-32|badzipfile|file is not a zip file|zlib\.error|incorrect data check|do not match the hashes|hash mismatch|incompleteread"
              r"|wheel '[^'\n]{1,80}' located at [^\n]{1,300} is invalid|condaverificationerror|safetensor\w*error[^\n]*(?:incomplete|header)",
              "bad crc-32", "badzipfile", "not a zip file", "zlib.error", "incorrect data check", "match the hashes", "hash mismatch", "incompleteread", "is invalid",
              "condaverificationerror", "safetensor"),
        error("packages.damaged_words", r"(?:file|archive|wheel|librar\w+|package|download|installation|cache|so|dll)\b[^\n]{0,40}\b(?:corrupt\w*|truncated|damaged)\b"
              r"|\b(?:corrupt\w*|damaged) (?:file|archive|wheel|library|package|installation|cache)|checksum (?:mismatch|error|failed)|invalid distribution -"
              r"|unexpected end of (?:data|file)",
              "corrupt", "truncated", "damaged", "checksum", "invalid distribution", "unexpected end of"),
    ),
    clues=(
        ("model.header_cut", 4.4, "the model's file is not whole"),
        ("ggml.other_release", 4.0, "files of two releases of llama.cpp lie in one folder"),
        ("files.partly_there", 4.2, "the program says that files of it are missing or damaged"),
        ("packages.unreadable", 4.6, "a file of the installed package is not what was installed: Python cannot read it", by_package),
        ("packages.syntax", 4.0, "Python cannot read a file of the installed package: it is damaged, or written for another Python", by_package),
        ("packages.no_start", 4.4, "a program of the installed package cannot be started ({what}): it is not what was installed"),
        ("jax.ffi_missing", 4.2, "the part of JAX's plugin that brings {name} was not loaded: its file is gone or damaged"),
        ("packages.no_init", 4.4, "a compiled module of the installed package is not what was installed: it lacks {what}", by_package),
        ("remark.cut", 4.4, "files of the package are missing or incomplete", whole(r"cuda|cudnn|cublas|nvidia|nccl|torch|tensorflow|jax|triton|cupy|gpu|onnxruntime")),
        ("said.hashes", 3.8, "what was downloaded is not what was asked for"),
        ("build.not_executable", 3.2, "{name} was installed or copied without the right to be run"),
        ("loader.garbled", 4.2, "a library asks for another one whose name is garbage: its file is damaged"),
        ("ntstatus.invalid_image_format", 3.4, "a DLL is damaged or of 32 bits (0xC000007B)"),
        ("ntstatus.error_mod_not_found", 1.4, "a DLL is not found at its first use (0xC06D007E)"),
        ("build.ext_module", 4.6, "{name} is a part of an installed package, and its file is not there", _of_its_package),
        ("shadow.source_tree", 4.2, "the installed package lacks its compiled part", lambda s, r: r.ending.owner not in ("", USER)),
        ("shadow.hollow", 4.0, "{name} has no {what}, which every {name} has: the installed package is there in part only", no(field("by", "user"))),
        ("shadow.hollow", 2.4, "{name} has no {what}, which every {name} has: the installed package may be there in part only"),
        ("packages.node_binding", 2.6, "the compiled part of the package is not there"),
        ("packages.in_part", 3.8, "{name} lacks {part}, which its own code imports: it is there in part only", no(field("by", "."))),
        ("packages.in_part", 2.6, "{name} lacks {part}: it may be there in part only", field("by", ".")),
        ("packages.partial", 2.9, "{name} is an empty shell: files of it are gone"),
        ("torch.preload", 2.2, "{library} is missing from the environment"),
        ("build.damaged", 4.6, "{library} is damaged: the linker does not recognise it"),
        ("loader.no_permission", 3.0, "{library} may not be read by this user: the installation is damaged", no(asks("driver"))),
        ("shadow.circular", 2.0, "{name} of the installed package is there in part only", in_packages),
        ("shadow.circular", 3.0,
         "the installed package imports {name} in a circle: one of its files is not what was installed", all_of(field("name",
            r"\w+\."), field("path", r"$"), by_package)),
        ("loader.corrupt", 4.8, "{library} is damaged: it is not a complete library"),
        ("loader.wrong_class", 4.4,
         "{library} is the framework's own, and not of the kind it was installed as ({elf})", field("library",
            r".*lib(?:torch|c10|tensorflow|onnxruntime|jax)")),
        ("loader.undefined_symbol", 4.0, "{object} lacks {symbol}, which it defines itself: the file is damaged", own_symbol),
        ("loader.wrong_class", 2.6, "{library} is a library of another kind ({elf})", no(with_("loader.undefined_symbol", "loader.driver_symbol"))),
        ("torch.checkpoint", 2.2, "the checkpoint file is damaged"),
        ("loader.cudnn_windows", 3.2, "{library} is damaged or of another architecture", field("number", "193")),
        ("packages.damaged", 4.0, "a package file is damaged", no(line("match the hashes"))),
        ("packages.damaged", 4.4,
         "a package of the GPU stack came with other bytes than the requirements file says: a broken download, or another file of that name",
         all_of(line("match the hashes"), of_gpu_package)),
        ("remark.torn", 3.6, "an installation of this package was broken off: its folder was left under a name that begins with ~"),
        ("packages.tool_damaged", 4.8, "{name} is no complete program: its file is damaged"),
        ("remark.broken_off", 4.8, "the installation was broken off: files of the package are missing", of_gpu_package),
        ("packages.damaged_words", 2.4, "the text says that a file is damaged"),
        ("windows.dll_load_failed", 4.0, "a DLL is damaged or of another architecture", field("invalid", ".")),
        ("windows.error", 3.0, "a DLL is damaged or of another architecture (193)", field("number", "193")),
        ("windows.load_library", 3.0, "a DLL is damaged or of another architecture (193)", field("number", "193")),
        ("windows.load_library", 3.0, "a DLL is kept from being read, or crashes while it is loaded ({number})", field("number", r"(?:5|225|998)$")),
        ("windows.load_library", 2.2, "a DLL of an installed package may be gone ({number})", field("number", r"(?:2|126|1157)$")),
        ("windows.error", 1.6, "a DLL crashed while it was loaded (998)", field("number", "998")),
        ("signal.bus", 2.9, "a bus error, as of a library file that is cut off"),
        ("loader.cudnn_sub", 1.6, "a part of cuDNN is missing from its folder", no(wants("driver", "nvrtc"))),
        ("loader.cudnn_symbol", 1.6, "a part of cuDNN is missing from its folder"),
        ("tf.partial", 2.4, "tensorflow is empty: its files are gone"),
        ("ort.partial", 2.2, "onnxruntime is empty: its files are gone"),
        ("windows.torch_dll", 4.4, "{library}, or a DLL that it needs, is damaged or for a 32-bit program (193)", field("number", "193")),
        ("windows.torch_dll", 2.9, "{library} in PyTorch's own folder is not what PyTorch brought", field("library", r"cud|cub|cus|cuf|nv")),
        ("windows.torch_dll", 1.6, "{library} cannot be loaded"),
        ("tf.cudnn_handle", 0.9, "cuDNN did not start; a stale ~/.nv cache does that too"),
        ("tf.conv_check", 1.9, "cuDNN failed inside a check; a stale ~/.nv cache does that too"),
        ("build.cu_error", 4.6, "NVRTC stops in a header that it brings itself: libnvrtc-builtins is damaged", line(r"nvrtc_builtin")),
        ("build.cu_error", 5.0, "a header of an installed package stops in the middle: its file is damaged ({what})", cut_short),
        ("cuda.invalid_image", 1.2, "the GPU code is damaged"),
        ("cuda.invalid_image", 2.0, "the file of the program's own module is empty, damaged or something else", own_module),
        ("cuda.software_validity_not_established", 2.4, "an integrity check failed (error 103)"),
        ("loader.cannot_open", 4.2, "{library} is a part of torch itself, and torch does not find it", all_of(asks("framework"), with_("torch.own_import"))),
        ("loader.cannot_open", 2.5, "pip installs {library} with torch: here its file is gone, or cannot be read",
         all_of(asks("cuda", "cudnn", "nccl", "nvrtc"), with_("torch.own_import"))),
        ("python.module", 0.8, "a module is not there"),
        ("python.module", 3.3, "{name} is a part of its package, and its file is not there", all_of(field("name", _PARTS), no(line("is not a package")))),
        ("cuda.startup_failure", 1.4),
        ("nvjitlink.invalid_input", 1.4),
    ),
    ladder=whole_again,
    remedies=(
        meant(on.in_windows("the model's file is not whole (an interrupted download, a page saved in its place): delete it from the program's models folder, and download it again; compare its size with the one that the page tells"),
              on.cmd("certutil -hashfile MODEL.safetensors SHA256"), said="model.header_cut"),
        meant("Or have Hugging Face's own program fetch it, which goes on where it was cut, and checks it",
              "pip install -U huggingface_hub\npython -c \"from huggingface_hub import snapshot_download; snapshot_download('OWNER/MODEL', force_download=True)\"",
              said="model.header_cut"),
        meant(on.in_windows("unpack one release anew into an empty folder: llama-RELEASE-bin-win-cuda-12.4-x64.zip and, of the same page, cudart-llama-bin-win-cuda-12.4-x64.zip, nothing of the old folder with it"),
              on.cmd("llama-cli.exe --list-devices"), said="ggml.other_release"),
        meant(on.in_windows("delete the part that the program says is damaged, in its settings (Jan: Settings, Local Engine or Hardware, remove the backend; LM Studio: Runtime, remove), with an antivirus that does not take its DLLs away, and download it again there"),
              said="files.partly_there"),
        meant("The model's file is cut or damaged: download it again", on.linux("rm -rf ~/.cache/huggingface/hub/models--*/blobs/*.incomplete\nhuggingface-cli download MODEL --force-download"),
              line=r"safetensor|PytorchStreamReader|MetadataIncomplete|HeaderTooLarge|central directory", said="packages. torch. python. loader.",
              more=True),
        meant("conda's copy of the package is damaged: clear its store, and install the package again",
              "conda clean --packages --tarballs -y && conda install --force-reinstall cudatoolkit", line=r"CondaVerification|pkgs/",
              said="packages. loader. python.", safe=True),
        meant("Download it again past pip's cache; where the index is a mirror, by the original one",
              "pip cache purge && pip install --no-cache-dir -r requirements.txt", said="said.hashes", safe=True),
        meant("An empty driver file in an image is what a mount left behind: start the container with the GPU, which puts the host's driver there",
              "docker run --gpus all IMAGE", said="loader.", line=r"lib(?:cuda|nvidia-[\w-]+)\.so[^\n]*too short"),
        meant("Or remove these files from the image, which was saved from a running container or built with the GPU",
              BAKED, said="loader.", line=r"lib(?:cuda|nvidia-[\w-]+)\.so[^\n]*too short"),
        meant("Check what the file is: damaged, or made for another machine (32-bit, another processor)", on.linux("file {library}"),
              said="build.damaged", look=True, safe=True, more=True),
        meant("Link the library of this machine: on 64-bit Linux in lib64, not lib", on.linux("g++ FILE.o -o PROGRAM -L/usr/local/cuda/lib64 -lcudart"),
              said="build.damaged", line="format not recognized", more=True, safe=True),
        meant("Install the package again, past the cache", "pip install --force-reinstall --no-cache-dir PACKAGE"),
        meant(on.in_windows("or the Python is a 32-bit one, which loads no 64-bit library: this must say 64; else install the 64-bit Python"),
              "python -c 'import struct; print(8 * struct.calcsize(\"P\"))'", said="windows.", line="193|win32", safe=True,
              look=True),
        meant("Delete the driver's compute cache", on.linux("rm -rf ~/.nv/ComputeCache")),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER, *UNRESOLVED),
    named=_named,
)  # fmt: skip
