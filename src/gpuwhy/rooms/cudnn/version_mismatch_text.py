"""cudnn.version_mismatch in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.knowledge.installs import NEWEST, gpu_requirement, wheel_of
from gpuwhy.knowledge.messages import NO_CUDNN, NO_GPU
from gpuwhy.knowledge.releases import built_with, find
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.signature import error, told
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.common import CUDNN_LIBRARY, CUDNN_TITLED, SAID_TO_FAIL, SKIPPED, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, alone, any_of, differ, field, line, no, of_the_system, wants, with_
from gpuwhy.rooms.text.installing import OLD_CUDNN, conda, cudnn, onnxruntime_on_windows, own
from gpuwhy.rooms.text.libraries import other_cudnn_there, other_file_told, other_major_told
from gpuwhy.rooms.text.library_ways import other_copy
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import told_cudnn_unfit
from gpuwhy.rooms.text.where import told_release

_OTHER = "{library} is asked for, and another version of cuDNN is what the text names"


_FOUND_FIRST = re.compile(r"LD_LIBRARY_PATH contains|PyTorch already comes bundled|the bundled cuDNN")


def _made(case: Asked) -> Iterator[Fix]:
    built = case.fields.get("built", "")
    if case.windows and case.framework == "onnxruntime":
        yield from onnxruntime_on_windows(case)
        return
    yield from _pinned_beside(case)
    if _FOUND_FIRST.search(case.text):
        yield from other_copy(case)
    if case.version or len({major_minor(one.version) for one in built_with(case.framework, built)}) == 1:
        yield from own(case)
    if case.kind == "cudnn" and case.major:
        yield from cudnn(case, case.major)
    elif numbers(built):
        yield from _cudnn_from(case, built)
    yield from other_copy(case)
    yield from own(case)
    if not case.windows and (built or case.library):
        yield Fix("Check which copy is loaded, and remove the folder of the wrong copy from the search path",
                  on.linux(f"LD_DEBUG=libs python -c 'import {case.framework or 'tensorflow'}' 2>&1 | grep libcudnn"), safe=True)  # fmt: skip


def _pinned_beside(case: Asked) -> Iterator[Fix]:
    """PyTorch in the same environment, whose own pin keeps cuDNN at another release than the speaker needs."""
    torch, built = told_release(case.reading, "torch").partition("+")[0], numbers(case.fields.get("built", ""))
    row = find("torch", torch, "linux-x86_64") if torch and case.framework in ("jax", "tensorflow") else None
    pins = [(name, spec) for name, spec in (row.requires or {}).items() if "cudnn" in name] if row and isinstance(row.requires, dict) else []  # fmt: skip
    held = numbers(pins[0][1].lstrip("=")) if pins else ()
    if not held or not built or held[:2] >= built[:2]:
        return
    yield Fix(f"torch {torch} pins {pins[0][0]} {pins[0][1].lstrip('=')}, and {case.title} needs {'.'.join(map(str, built[:2]))} or newer: give each an environment of its own", f'python -m venv .venv-{case.framework}\n.venv-{case.framework}/bin/pip install "{_requirement(case)}"', safe=True)  # fmt: skip
    yield Fix("Or install a torch whose pin is new enough beside it (2.4 and newer pin cuDNN 9), both in one command", f'pip install --upgrade "torch>=2.4" "{_requirement(case)}"', safe=True)  # fmt: skip


def _requirement(case: Asked) -> str:
    told = gpu_requirement(case.framework, case.framework, case.version, 12) if case.version else ""
    return told or NEWEST[case.framework]


def _places(release: str) -> tuple[int, ...]:
    """7.1.2 and 7102 as numbers."""
    places = numbers(release.replace(", ", "."))
    if len(places) == 1 and places[0] > 999:  # 8100, 90100
        unit = 10000 if places[0] > 89999 else 1000
        places = (places[0] // unit, places[0] % unit // 100)
    return places


_THEIR_CUDA: dict[tuple[int, ...], str] = {(5, 1): "8.0", (6, 0): "8.0", (7, 0): "9.0", (7, 1): "9.0", (7, 2): "9.2", (7, 3): "9.0", (7, 4): "10.0", (7, 5): "10.0"}  # fmt: skip


def _very_one(case: Asked, places: tuple[int, ...], loaded: tuple[int, ...]) -> Iterator[Fix]:
    """A build of old that takes the minor release it was compiled with, and no newer one."""
    wanted, there = (".".join(map(str, one[:2])) for one in (places, loaded))
    cuda = _THEIR_CUDA.get(places[:2], "9.0")
    yield structs.replace(conda(case, cuda, wanted), text=f"This build refuses cuDNN {there}, which is newer than its own {wanted}: install {wanted} itself, for the CUDA {cuda} that it goes with, and have it found first")  # fmt: skip
    yield Fix(f"Or, without conda: unpack cuDNN {wanted} for CUDA {cuda}, from NVIDIA's cuDNN archive, and put its folder before the one of {there}", on.linux("export LD_LIBRARY_PATH=$HOME/cudnn/cuda/lib64:$LD_LIBRARY_PATH"))  # fmt: skip


def _cudnn_from(case: Asked, built: str) -> Iterator[Fix]:
    """A cuDNN that is not older than the one of the build."""
    places, loaded = _places(built), _places(case.fields.get("loaded", ""))
    if places[0] in OLD_CUDNN and loaded[:1] == places[:1] and loaded[:2] > places[:2] and not case.windows:
        yield from _very_one(case, places, loaded)
        return
    releases = built_with(case.framework, built)
    if releases and not case.cuda:
        yield from _cudnn_of(case, built, releases)
        return
    if places[0] in OLD_CUDNN or case.windows:
        yield from cudnn(case, places[0])
        return
    cuda_major = case.cuda_major if case.cuda_major in (11, 12, 13) else 12 if places[0] >= 9 else 11
    floor_ = ".".join(str(n) for n in places[:2])
    wanted = f"{wheel_of(f'libcudnn.so.{places[0]}', cuda_major)}>={floor_},<{places[0] + 1}"
    yield Fix(
        f"Install a cuDNN {places[0]} that is not older than {floor_}, which the build has",
        f'pip install "{wanted}"',
        safe=True,
    )


def _cudnn_of(case: Asked, built: str, releases: Sequence[Release]) -> Iterator[Fix]:
    """A cuDNN for the releases that were compiled with this very one, and for their CUDA."""
    versions = sorted({one.version for one in releases}, key=numbers)
    cuda = max((str(one.cuda) for one in releases), key=numbers)
    span = versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"
    major, least = numbers(built)[0], major_minor(built)
    last = OLD_CUDNN[major][1] if major in OLD_CUDNN else ""
    if last:
        last = last if cuda.startswith("10.") else least
        yield conda(case, cuda, last)
        yield Fix(f"Or install cuDNN {least} or a newer {major} for CUDA {cuda}, from NVIDIA's cuDNN archive: TensorFlow {span} "
                  f"was compiled with {built}, for CUDA {cuda}")  # fmt: skip
        return
    wheel = wheel_of(f"libcudnn.so.{major}", numbers(cuda)[0])
    text = f"Install a cuDNN {major} that is not older than {least}, for CUDA {cuda}: TensorFlow {span} was compiled with {built}"
    yield Fix(text, "" if case.windows else f'pip install "{wheel}>={least},<{major + 1}"', safe=not case.windows)


def _differ(s: Symptom, r: Reading) -> bool:
    """The two releases are not the same."""
    return numbers(s.get("built"))[:2] != numbers(s.get("loaded"))[:2]


def _other_release(s: Symptom, r: Reading) -> bool:
    """The program asks for a cuDNN of another release than the listing shows, and the listing shows no other."""
    asked = {m[1] for o in r.symptoms if (m := re.search(r"cudnn(?:64_|\.so\.)(\d+)", o.get("library")))}
    return bool(asked) and s.get("found") not in asked


TEXT = Text(
    "cudnn.version_mismatch",
    signatures=(
        told("remark.other_cudnn", r"^(?![^\n]*(?:opened|library|load|error|found|not ))(?:\S+\s+){0,5}cudnn64_(?P<found>\d+)\.dll\s*$", "cudnn64_"),
        error("cudnn.other_loaded", r"(?:compiled|built|linked)(?: against| with"
              r"| for)? cudnn\W{0,3}(?:version )?v?(?P<built>\d[\d.]*)[^\n]{0,40}?\b(?:but|while|however"
              r"|and)\b[^\n\d]{0,60}?(?:version|cudnn|is|loaded|found)[^\n\d]{0,24}v?(?P<loaded>\d[\d.]*\d)"
              r"|\bcudnn\W{0,3}(?:version )?v?(?P<loaded2>\d[\d.]*\d)(?: is| was)? (?:loaded|found|installed"
              r"|in use)\b[^\n]{0,60}?\b(?:compiled|built|made|linked)(?: against| with"
              r"| for)[^\n\d]{0,20}v?(?P<built2>\d[\d.]*\d)"
              r"|\b(?:compiled|built|made|linked)(?: against| with"
              r"| for) cudnn\W{0,3}v?(?P<built3>\d[\d.]*\d)[^\n]{0,12}\b(?:but|while"
              r"|and)\b[^\n\d]{0,12}v?(?P<loaded3>\d[\d.]*\d) (?:is |was )?(?:loaded|found|installed|there)",
              "compiled", "built", "linked", covers=("title.cudnn_version", "title.trouble", "harmless.", "tf.cudnn_loaded")),
        error("title.cudnn_version", r"cudnn (?:version )?(?:mismatch|conflict|incompatib\w+"
              r"|(?:is )?(?:not (?:compatible|supported)|too (?:old|new|low)))"
              r"|(?:wrong|incompatible|different|old release of) (?:cudnn|version of cudnn)"
              r"|mixed dnn version|(?:requires?|needs?) (?:at least )?cudnn (?:version )?(?:>=? ?)?v?\d[^\n]{0,40}(?:found|but|installed|have)",
              "cudnn", "dnn version"),
    ),
    clues=(
        ("said.other_release", 5.0, "{library} is asked for, and only that of release {found} is there", all_of(line("cudnn"), differ("wanted", "found"))),
        ("remark.other_cudnn", 4.6, "the cuDNN that is there is release {found}, and another is asked for", _other_release),
        *((one, 5.4, "{library} is asked for, and the text says that another cuDNN is there", other_cudnn_there) for one in ("loader.", "title.library", "windows.")),
        ("cudnn.other_loaded", 5.4, "cuDNN {loaded} is loaded, but the program was built with {built}", _differ),
        ("packages.pinned_cudnn", 3.6, "{package} {release} wants cuDNN {wanted}, and another is asked for or installed", with_("packages.conflict")),
        ("tf.cudnn_handle", 4.2, "the cuDNN that is named does not fit the CUDA or the TensorFlow that is named", told_cudnn_unfit),
        ("cudnn.", 3.6, "the cuDNN that is named does not fit the CUDA that is named", told_cudnn_unfit),
        ("tf.conv_algorithm", 4.0, "the cuDNN that is named does not fit the CUDA or the TensorFlow that is named", told_cudnn_unfit),
        ("tf.cudnn_handle", 2.5, "cuDNN did not start at all", field("status", ".*not_initialized")),
        ("windows.self_check", 3.0, "TensorFlow wants cuDNN {version}, and it is not found", field("what", "cudnn")),
        ("title.library", 1.6, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_TITLED),
        ("title.library", 3.2, _OTHER, all_of(CUDNN_TITLED, other_major_told)),
        ("title.other_library", 3.0, _OTHER, CUDNN_LIBRARY),
        ("tf.registered", 1.6, "the GPU is there, and TensorFlow's libraries did not open", field("devices", ".*xla_gpu")),
        ("windows.dll_not_found", 4.2, _OTHER, all_of(CUDNN_LIBRARY, other_major_told)),
        ("windows.could_not_find", 4.2, _OTHER, all_of(CUDNN_LIBRARY, other_major_told)),
        ("windows.tf_needs", 4.2, _OTHER, all_of(CUDNN_LIBRARY, other_major_told)),
        ("windows.dll_needs", 4.2, _OTHER, all_of(CUDNN_LIBRARY, other_major_told)),
        ("loader.prose", 2.4, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("loader.prose", 4.0, _OTHER, all_of(CUDNN_LIBRARY, any_of(other_major_told, other_file_told))),
        ("loader.mac_library", 2.6, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("tf.cudnn_loaded", 4.4, "cuDNN {loaded:cudnn} is loaded, but the program was built with {built:cudnn}"),
        ("torch.cudnn_mismatch", 4.4, "cuDNN {loaded} is loaded, but PyTorch was built with {built}"),
        ("torch.cudnn_mismatch_note", 2.0, "an incompatible cuDNN is on the search path"),
        ("jax.found_version", 4.8, "cuDNN {loaded:cudnn} is loaded, but JAX was built with {built:cudnn}", field("what", "cudnn")),
        ("jax.unable_to_use", 3.4, "the cuDNN that is there is too old", field("what", "cudnn")),
        ("loader.cannot_open", 2.6, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("loader.cannot_open", 4.2, _OTHER, all_of(CUDNN_LIBRARY, any_of(other_major_told, other_file_told))),
        ("loader.tf_dso", 2.6, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("loader.tf_dso", 4.2, _OTHER, all_of(CUDNN_LIBRARY, any_of(other_major_told, other_file_told))),
        ("loader.asked", 2.4, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("loader.asked", 3.8, _OTHER, all_of(CUDNN_LIBRARY, other_major_told)),
        ("loader.find_failed", 2.3, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("loader.cudnn_sub", 2.2, "{library} belongs to a cuDNN that may not be the installed one", wants("cudnn")),
        ("loader.cudnn_sub", 3.8, _OTHER, all_of(wants("cudnn"), any_of(other_major_told, other_file_told))),
        ("loader.cudnn_load", 2.6, "{library} belongs to a cuDNN that may not be the installed one"),
        ("loader.cudnn_unable", 2.0, "{library} belongs to a cuDNN that may not be the installed one"),
        ("loader.cudnn_symbol", 1.8, "the cuDNN that was loaded has no {symbol}"),
        ("windows.dll_not_found", 2.5, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("windows.could_not_find", 2.4, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("windows.dll_needs", 2.6, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("windows.load_library", 3.6, "this ONNX Runtime needs another cuDNN than the one named", told_cudnn_unfit),
        ("windows.load_library", 1.6, "the cuDNN that is found may be of another version", no(of_the_system)),
        ("windows.error", 0.8, "cuDNN's DLL may be of another version ({number})", field("number", "127$")),
        ("tf.pywrap", 2.0, "TensorFlow's own library did not load: cuDNN is of another version"),
        ("windows.third_party", 2.6, "{library} belongs to a cuDNN that may not be the installed one", CUDNN_LIBRARY),
        ("loader.cudnn_windows", 1.9, "{library} belongs to a cuDNN that may not be the installed one"),
        ("loader.cudnn_path", 1.9, "{library} is asked for, and not found"),
        ("loader.cudnn_dlsym", 2.6, "the cuDNN that was loaded has no {symbol}"),
        ("tf.memory_usage", 1.6, "{free} of {total} bytes were free: it is not the memory", lambda s, r: int(s.get("free")) > 0.6 * int(s.get("total"))),
        ("loader.cudnn_dso", 2.4, "the cuDNN that was opened has no {symbol}"),
        ("tf.rnn", 1.4, "cuDNN's RNN failed"),
        ("tf.conv_algorithm", 2.7, "cuDNN did not start; this happens with another cuDNN version"),
        ("tf.cudnn_handle", 1.9, "cuDNN did not start; this happens with another cuDNN version"),
        ("tf.dnn_init", 2.2, "cuDNN did not start", alone),
        ("tf.no_algorithm", 1.8, "cuDNN has no algorithm for this convolution"),
        ("tf.cudnn_version", 2.6, "TensorFlow cannot ask this cuDNN for its version"),
        ("torch.no_engine", 2.0, "cuDNN has no algorithm for this operation"),
        ("torch.cudnn_arch", 2.0, "cuDNN {cudnn} no longer knows this GPU"),
        ("cudnn.not_initialized", 2.1, "cuDNN did not start; this happens with another cuDNN version"),
        ("cudnn.not_initialized", 2.9, "the cuDNN that CTranslate2 found did not start; this happens with another cuDNN version", line("cudnn failed with status")),
        ("cudnn.internal_error", 1.8, "cuDNN failed inside; this happens with another cuDNN version"),
        ("cudnn.bad_param", 2.0, "cuDNN refuses the arguments; this happens with another cuDNN version"),
        ("cudnn.bad_param", 3.2, "cuDNN refuses what Caffe's wrapper sets up: it was compiled for another version", all_of(line(r"check failed"), with_("caffe.setup"))),
        ("cudnn.execution_failed", 1.8, "cuDNN failed to run; this happens with another cuDNN version"),
        ("cudnn.not_supported", 1.5, "cuDNN does not support what it is asked"),
        ("cudnn.version_mismatch", 3.4, "cuDNN says that versions do not match"),
        ("cudnn.sublibrary_version_mismatch", 2.2, "parts of cuDNN are of different versions"),
        ("cudnn.invalid_value", 1.2, "cuDNN refuses a value"),
        ("cudnn.serialization_version_mismatch", 2.6, "cuDNN was given a plan of another version"),
        ("title.cudnn_version", 3.0, "a mismatch of cuDNN versions is named"),
        ("ort.create_failed", 2.0, "the CUDA provider wants cuDNN {cudnn}", alone),
        ("loader.undefined_symbol", 2.4, "the cuDNN that was loaded has no {symbol}", field("symbol", "cudnn")),
        ("loader.tf_skip", 1.4, "TensorFlow could not open some library", SKIPPED),
        ("signal.windows", 1.2, "a crash, as of a wrong cuDNN"),
        ("title.trouble", 1.7, "the text says that cuDNN fails", said_of("cudnn")),
        ("title.trouble", 0.3, SAID_TO_FAIL, nothing_else),
    ),
    remedies=(
        meant("Install a cuDNN of the same major version that is not older than the one of the build", 'pip install --upgrade "nvidia-cudnn-cu12"', safe=True),
        meant("Check which copy is loaded, and remove the folder of the wrong copy from the search path", on.linux("LD_DEBUG=libs python -c 'import tensorflow' 2>&1 | grep libcudnn"),
              by="tensorflow", safe=True, look=True),
        meant("Check which copy is loaded, and remove the folder of the wrong copy from the search path", on.linux("LD_DEBUG=libs python -c 'import torch' 2>&1 | grep libcudnn"),
              by="torch", safe=True, look=True),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN),
    made=_made,
)  # fmt: skip
