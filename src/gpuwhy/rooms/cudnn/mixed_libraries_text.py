"""cudnn.mixed_libraries in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.messages import NO_CUDNN, UNRESOLVED
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.common import CUDNN_LIBRARY
from gpuwhy.rooms.text.conditions import all_of, any_of, field, line, wants, with_
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text


def _two(s: Symptom, r: Reading) -> bool:
    return s.get("one") != s.get("other")


_DLL = re.compile(r"(?P<folder>[A-Za-z]:\\[^\n:*?\"<>|]{1,200})\\cudnn\w{0,40}\.dll", re.IGNORECASE)


def _in_two_folders(s: Symptom, r: Reading) -> bool:
    """Whether a text names DLLs of cuDNN in two folders."""
    return len({found["folder"].lower() for found in _DLL.finditer(r.excerpt)}) > 1


_OF_SYSTEM = re.compile(
    r"(?<![\w.])((?:/usr)?/lib(?:64)?(?:/x86_64-linux-gnu)?|/usr/local/cuda[\w.-]*/(?:lib64|targets/x86_64-linux/lib))/libcudnn"
)
_PACKAGE = re.compile(r"\b(libcudnn(\d+)(?:-cuda-\d+)?)\b")
_WHEEL = '$(python -c "import nvidia.cudnn as n; print(list(n.__path__)[0])")/lib'


def _other_part(case: Asked) -> Iterator[Fix]:
    """Parts of the system's cuDNN beside the wheel's: the wheel's first, or the system's away; the path says which."""
    folder, package = _OF_SYSTEM.search(case.text), _PACKAGE.search(case.text)
    if case.windows or not (folder or package):
        return
    where = folder[1] if folder else "the system's folder"
    yield Fix(f"A part comes from {where}: put the folder of the wheel's cuDNN before it, so that every part is of one release", on.linux(f"export LD_LIBRARY_PATH={_WHEEL}"), safe=True)  # fmt: skip
    if folder and "/usr/local/cuda" in folder[1]:
        yield Fix(f"Or take the copy in {where} away (moved, not deleted)", on.linux(f"sudo mkdir -p {where}/cudnn-off && sudo mv {where}/libcudnn* {where}/cudnn-off/ && sudo ldconfig"), root=True)  # fmt: skip
    else:
        major = package[2] if package else "9"
        name = package[1] if package else "$(dpkg -S libcudnn_graph.so | cut -d: -f1 | sort -u)"
        text = f"Or remove the system's package of cuDNN {major}, which nothing in this environment needs"
        yield Fix(text, on.linux(f"sudo apt remove {name} && sudo ldconfig"), root=True)


TEXT = Text(
    "cudnn.mixed_libraries",
    signatures=(
        error("cudnn.two_places", r"\blibcudnn\w{0,40}\.so\S{0,8}:? (?:is )?(?:of )?(?:version"
              r"|from) (?P<one>[^\s,]{1,120})[^\n]{0,40}?\blibcudnn\w{0,40}\.so\S{0,8} (?:is )?(?:of )?(?:version"
              r"|from) (?P<other>[^\s,]{1,120})", "libcudnn", covers=("loader.", "title.", "cudnn.version_mismatch")),
        error("cudnn.two_releases",
              r"libcudnn\w*\.so\S{0,4} \(?(?P<one>\d\.\d+(?:\.\d+)?)[^\n]{0,40}?libcudnn\w*\.so\S{0,4} \(?(?P<other>\d\.\d+(?:\.\d+)?)",
              "libcudnn", covers=("loader.", "title.", "cudnn.version_mismatch")),
    ),
    clues=(
        ("cudnn.two_places", 5.0, "parts of cuDNN are of {one} and of {other}", _two),
        ("remark.shadow", 5.0, "the text tells of a second cuDNN", all_of(any_of(line("cudnn"), with_("cudnn.sublibrary",
            "loader.cudnn")), with_("cudnn.", "loader.", "signal.", "torch.no_plans"))),
        ("cudnn.two_releases", 5.4, "parts of cuDNN are of releases {one} and {other}", _two),
        ("loader.cudnn_sub", 5.2, "the parts of cuDNN are of different releases: {dlerror}", line(r"libcudnn\S* ?: ?undefined symbol")),
        ("loader.cudnn_load", 4.6, "{library} meets another part of cuDNN that lacks its symbols: they are of different releases", line("undefined symbol|version")),
        ("windows.error", 4.8, "cuDNN's DLLs lie in two folders, and one lacks a function that another asks for (127)", all_of(field("number", "127"), _in_two_folders)),
        ("title.second_copy", 2.8, "a second cuDNN is named", line("cudnn")),
        ("cudnn.sublibrary_version_mismatch", 4.8, "parts of cuDNN are of different versions"),
        ("cudnn.version_mismatch", 3.0, "parts of cuDNN are of different versions"),
        ("loader.not_defined", 4.2, "{library} is of another version than the part that needs it", CUDNN_LIBRARY),
        ("cudnn.sublibrary_loading_failed", 3.0, "a part of cuDNN could not be loaded beside the others"),
        ("loader.undefined_symbol", 3.4, "a part of cuDNN lacks {symbol}: the parts are of different versions", field("symbol", "cudnn")),
        ("loader.undefined_symbol", 3.6, "a part of cuDNN lacks {symbol}: the parts are of different versions", field("object", r".*libcudnn")),
        ("loader.cudnn_sub", 3.8, "the parts of cuDNN do not fit each other: {dlerror}", line("undefined symbol|version")),
        ("loader.cudnn_sub", 2.9, "{library} was found where {wanted} is not: another cuDNN's part", wants("cuda")),
        ("loader.cudnn_windows", 3.2, "{library} does not fit the others", field("number", "127")),
        ("loader.cudnn_dlsym", 3.4, "a part of cuDNN lacks {symbol}: the parts are of different versions"),
        ("loader.cudnn_unable", 2.2, "the parts of cuDNN are searched apart from each other"),
        ("loader.cudnn_symbol", 2.2, "a part of cuDNN lacks {symbol}"),
        ("tf.cudnn_loaded", 2.4, "another cuDNN than the program's own was loaded"),
        ("torch.cudnn_mismatch", 2.4, "another cuDNN than PyTorch's own was loaded"),
        ("cudnn.not_supported_sublibrary_unavailable", 2.0, "a part of cuDNN is not there beside the others"),
        ("cudnn.not_initialized", 1.0, "cuDNN did not start"),
        ("cudnn.internal_error", 0.8, "cuDNN failed inside"),
        ("signal.segv", 0.8, "a crash, as of mixed parts"),
        ("title.undefined_symbol", 2.8, "{object} meets parts of another cuDNN", field("object", r".*cudnn")),
    ),
    first=_other_part,
    remedies=(
        meant("The copy is the conda environment's, {env}, and another part comes from elsewhere: unset LD_LIBRARY_PATH, and keep one cuDNN in the environment, that of PyTorch's wheel",
              on.linux("unset LD_LIBRARY_PATH\nconda remove --force -y cudnn\npip install --force-reinstall torch"),
              line=r"(?P<env>/[^\s:]*(?:envs/[\w.-]+|conda\d?))/(?:bin/\.\./)?lib/libcudnn", said="loader.cudnn_sub title.library cudnn.",
              by="torch", more=True),
        meant("Unset LD_LIBRARY_PATH, so that only the framework's own copy of cuDNN is loaded", on.linux("unset LD_LIBRARY_PATH"), safe=True),
        meant("Install PyTorch again with the cuDNN wheel of the release that it asks for", "pip install --force-reinstall torch", by="torch", safe=True),
        meant("Remove the other copy (system package, conda, wheel)", on.linux("find / -name 'libcudnn*.so*' 2>/dev/null")),
    ),
    admitted_by=(*NO_CUDNN, *UNRESOLVED),
)  # fmt: skip
