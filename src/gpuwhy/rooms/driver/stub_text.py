"""driver.stub in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.conditions import field
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "driver.stub",
    signatures=(
        error("nvidia.stub_banner", r"linked to libnvidia-ml library at wrong path|is a stub library that is attached"
              r"|nvidia-ml\.so[^\n]*stub", "at wrong path", "is a stub library"),
    ),
    clues=(
        ("cuda.stub_library", 5.0, "the libcuda that was loaded is the toolkit's stub (error 34)"),
        ("loader.undefined_symbol", 4.6, "{object}, a stub, was loaded as libcuda", field("object", r".*/stubs/libcuda\.so")),
        ("told.stub_path", 3.2, "a stubs folder of the toolkit is on the search path"),
        ("nvidia.stub_banner", 4.6, "nvidia-smi was given the stub library of NVML"),
        ("loader.resolved", 3.6, "libcuda resolves to {path}", field("path", r".*/stubs/")),
    ),
    remedies=(
        meant("Take the stubs folder out of the loader's list: it is for linking only", on.linux("sudo rm {file} && sudo ldconfig"),
              said="told.stub_path", line=r">\s*(?P<file>/etc/ld\.so\.conf\.d/[\w.-]+)", root=True, more=True),
        meant("In a Dockerfile: leave out the lines that link or list the stubs folder, and run what needs the GPU when the container starts: while an image is built there is none",
              "docker run --gpus all IMAGE", said="told.stub_path", line=r"ld\.so\.conf|/etc/ld\.so|ln -s [^\n]*stubs",
              more=True),
        meant(on.in_wsl("delete a link to the toolkit's stubs/libcuda.so (ls -l $(ldconfig -p | grep -o '/[^ ]*libcuda.so.1') shows it), take the stubs folder out of LD_LIBRARY_PATH, and put WSL's own first"),
              on.wsl("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"), by="wsl"),
        meant("Remove the stubs folder from LD_LIBRARY_PATH: it is for linking only", on.linux("export LD_LIBRARY_PATH=$(echo $LD_LIBRARY_PATH | tr ':' '\\n' | grep -v stubs | paste -sd:)"),
              safe=True),
        meant("In a Dockerfile: put the stubs folder only into LIBRARY_PATH, which the linker reads; never into LD_LIBRARY_PATH"),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip
