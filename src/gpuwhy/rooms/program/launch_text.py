"""program.launch in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.conditions import any_of, field, line, with_
from gpuwhy.rooms.text.counted import launched
from gpuwhy.rooms.text.fragments import LAUNCH_COVERS
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.program_ways import within_card
from gpuwhy.rooms.text.remedies import TDR
from gpuwhy.rooms.text.room import Text

_LAUNCH = any_of(with_("launch."), line(r"launch"))

_SMALLER = "Make the kernel smaller: block or tile sizes, num_stages, num_warps"

TEXT = Text(
    "program.launch",
    signatures=(
        error("launch.too_much_shared",
              r"\b(?:dynamic |static )?(?:smem|shared mem\w*)\b[^\n]{0,40}\d{4,9}[^\n]{0,10}>[^\n]{0,80}\d{4,9}"
              r"|maxsharedmemoryperblock(?:optin)?\b[^\n]{0,30}\bexceed", "smem", "shared mem", "maxsharedmemory",
              covers=("memory.", "said.no_memory", "title.")),
        error(
            "launch.resources",
            r"out of resources?\W{1,2}(?P<what>shared memory|tensor memory|registers?"
            r"|threads)(?:[^\n]{0,10}required\W{1,2}(?P<needed>\d{1,12})[^\n]{0,10}hardware limit\W{1,2}(?P<limit>\d{1,12}))?"
            r"|(?<![\w])outofresources\b(?![^\n]*memory)",
            "out of resource", "outofresources",
            covers=(*LAUNCH_COVERS, "cuda."),
        ),
    ),
    clues=(
        ("launch.too_much_shared", 4.6, "the kernel asks for more shared memory than a block of this card can have"),
        ("cuda.launch_timeout", 4.2, "a kernel took longer than the watchdog of the display driver allows (error 702, TDR)"),
        ("title.black_screen", 3.6,
         "the screen goes black, as when the watchdog of the display driver (TDR) ends a kernel that takes too long",
         any_of(with_("cuda."), line("cuda"))),
        ("launch.resources", 5.0, "the kernel needs {needed} of {what}; the card has {limit}", field("needed", ".")),
        ("launch.resources", 4.4, "the kernel needs more {what} than the card has"),
        ("launch.shared", 4.6, "the kernel uses more {what} memory than the card has"),
        ("launch.parameters", 4.2, "the kernel's arguments take {needed} bytes; {limit} are allowed"),
        ("launch.block", 4.2, "the block or the grid is larger than the card takes"),
        ("launch.refused", 4.2, "the launch itself was refused"),
        ("cuda.invalid_configuration", 4.0, "a kernel was launched with sizes that the GPU does not accept (error 9)"),
        ("cuda.launch_out_of_resources", 4.4, "the launch asks for more registers or threads than the card has (error 701)"),
        ("cuda.cooperative_launch_too_large", 4.6, "a cooperative launch has more blocks than the card can hold at once (error 720)"),
        ("cuda.missing_configuration", 3.6, "a kernel was called without a configuration (error 52)"),
        ("cuda.launch_max_depth_exceeded", 3.8, "kernels launch kernels too deeply (error 65)"),
        ("cuda.launch_pending_count_exceeded", 3.8, "kernels have launched more kernels than may be pending (error 69)"),
        ("cuda.invalid_value", 3.6, "the launch has a wrong argument (error 1)", _LAUNCH),
        ("cuda.invalid_value", 3.8, "more is asked for a kernel than the card has (error 1)", line(r"cuda(?:funcsetattribute|devicesetlimit)|cu(?:funcsetattribute|ctxsetlimit)")),
        ("cuda.invalid_value", 3.4, "the kernel before {call} was launched with wrong sizes or arguments (error 1)", field("call", ".*lasterror")),
        ("cuda.invalid_handle", 2.6, "what was launched is no kernel of this program (error 400)", field("call", "cu(?:da)?launch")),
        ("cuda.invalid_value", 2.6, "CuPy's driver call was given a wrong value, as a launch with impossible sizes is (error 1)", line(r"cudadrivererror")),
        ("cuda.invalid_value", 2.6, "Triton's launch has a wrong argument (error 1)", line(r"triton error")),
        ("cuda.invalid_cluster_size", 4.4, "a cluster of blocks is larger than the card takes (error 912)"),
        ("cuda.invalid_resource_configuration", 3.6, "the resources asked for do not fit the card (error 915)"),
        ("cuda.sync_depth_exceeded", 3.4, "kernels wait for kernels too deeply (error 68)"),
        ("cuda.unsupported_limit", 3.0, "a limit was set that this card does not have (error 215)"),
        ("cuda.launch_file_scoped_", 3.0, "a kernel uses textures in a way that launches from kernels do not allow"),
        ("cuda.launch_incompatible_texturing", 3.0, "a kernel's textures do not fit its launch (error 703)"),
        ("triton.shared", 4.4, "the kernel wants more {what} than the card has"),
    ),
    first=launched,
    ladder=within_card,
    remedies=(
        *TDR,
        meant("Ask for more than 48 KB of shared memory, in the program, before the launch", on.code("cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"),
              said="launch.shared"),
        meant("Use dynamic shared memory (extern __shared__), or smaller arrays", said="launch.shared"),
        meant("Pass the arguments by a pointer to GPU memory", said="launch.parameters"),
        meant("Use fewer threads in a block, or fewer registers", on.code("nvcc -maxrregcount=64 …    # or __launch_bounds__(256) at the kernel; Numba: @cuda.jit(max_registers=64)"),
              said="cuda.launch_out_of_resources", unless="numba"),
        meant("Ask how many blocks fit at once, and launch no more", on.code("cudaOccupancyMaxActiveBlocksPerMultiprocessor"), said="cuda.cooperative_launch_too_large"),
        meant("Look at the sizes: a block has 1 to 1024 threads, a grid at least one block and at most 65535 in y and z; an empty batch gives none",
              said="cuda.invalid_configuration cuda.invalid_value launch.block launch.refused"),
        meant(_SMALLER),
    ),
)  # fmt: skip
