"""install.cache in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.signature import error, vague
from gpuwhy.rooms.text.conditions import alone
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "install.cache",
    signatures=(
        error("cache.extension", r"(?<![^\s:'\"])(?P<folder>[^\s:'\"]{0,200}torch_extensions/[^\s:'\"]{1,200})/[^\s:/'\"]{1,80}\.so: undefined symbol: (?P<symbol>\w{1,200})",
              "torch_extensions/", covers=("loader.", "python.")),
        error("cache.kernel", r"(?P<folder>(?<![^\s:'\"])[^\s:'\"]{0,200}(?:torchinductor_[^\s:/'\"]{1,60}"
              r"|\.triton/cache))/[^\s:'\"]{1,200}\.so: undefined symbol: (?P<symbol>\w{1,200})",
              "torchinductor_", ".triton/cache", covers=("loader.", "python.", "triton.")),
        error("waits.build", r"torch/utils/file_baton\.py\"?, line \d+,? in wait\b", "file_baton.py"),
        vague("cache.lock", r"lock file exists in build directory: '(?P<lock>[^'\n]{1,300})'", "lock file exists in build directory"),
        error("cache.bytecode", r"bad magic number in '(?P<name>[\w.]{1,120})'", "bad magic number in '", covers=("python.", "ending.")),
        error("cache.cmake", r"the current cmakecache\.txt directory (?P<build>[^\n]{1,300}?)/cmakecache\.txt is different than the directory (?P<was>[^\n]{1,300}?) where",
              "the current cmakecache.txt directory", covers=("build.",)),
    ),
    clues=(
        ("cache.extension", 5.0, "the cached extension in {folder} was built for another PyTorch version (undefined symbol: {symbol})"),
        ("cache.kernel", 3.6, "the cached kernels in {folder} were built by another Triton or driver (undefined symbol: {symbol})"),
        ("waits.build", 4.4, "PyTorch waits for a lock file, which an earlier, killed build left behind"),
        ("cache.lock", 2.6, "{lock} is there; this happens when a build was killed", alone),
        ("cache.bytecode", 4.6, "the compiled file of {name} is of another Python, and no source stands beside it"),
        ("cache.cmake", 5.0, "the CMake build folder was moved or copied: its cache was made in {was}, but it is now in {build}"),
    ),
    remedies=(
        meant("Build the extension anew beside the old one", on.linux("export TORCH_EXTENSIONS_DIR=/tmp/torch_extensions_new"), said="cache.extension", safe=True),
        meant("If that helps, delete the old build", on.linux("rm -rf {folder}"), said="cache.extension"),
        meant("Use new, empty cache folders, so that the kernels are compiled again", on.linux("export TRITON_CACHE_DIR=/tmp/triton_new TORCHINDUCTOR_CACHE_DIR=/tmp/inductor_new"),
              said="cache.kernel", safe=True),
        meant("If that helps, delete the old cached kernels", on.linux("rm -rf {folder}"), said="cache.kernel"),
        meant("If no other process is building now, delete the lock file", on.linux("rm {lock}"), said="cache.lock"),
        meant("Find the lock files; if no process is building now, delete them", on.linux("find ~/.cache/torch_extensions -name lock"), said="waits.build", safe=True),
        meant("Find the compiled files whose source is gone, and delete them", on.linux("find . -name '*.pyc' -not -path '*/__pycache__/*'"), said="cache.bytecode", safe=True),
        meant("Where a program comes without its source, start it by the Python that it was compiled with", said="cache.bytecode"),
        meant("Delete the build folder and configure again", on.linux("rm -rf {build}"), said="cache.cmake"),
        meant("Delete the cache that the message names, and run the program again; it is filled anew"),
    ),
)  # fmt: skip
