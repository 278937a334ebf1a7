"""program.illegal_access in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.installs import pip_newest
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.calls import own_program
from gpuwhy.rooms.text.conditions import field, line, no, xid
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.program_ways import out_of_bounds
from gpuwhy.rooms.text.remedies import CRASH, FAULTS, SYNCHRONOUS
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "program.illegal_access",
    signatures=(
        error("signal.heap",
              r"(?:free|realloc|malloc|munmap_chunk|malloc_consolidate|unlink_chunk)\(\): (?:invalid|corrupted"
              r"|unaligned|mismatching|double)|double free or corruption|corrupted (?:double-linked list|size vs)"
              r"|stack smashing detected|addresssanitizer: (?:heap|stack|global|use-after|attempting)", "(): ",
              "double free", "corrupted double", "corrupted size", "stack smashing", "addresssanitizer",
              covers=("title.",)),
        error("program.pointer", r"(?:error: |\b)invalid device pointer: (?:0x)?[\da-f]{2,16}"
              r"|pointer argument [^\n]{0,40}(?:is not|isn't) (?:a )?(?:valid|device) ", "invalid device pointer",
              "pointer argument"),
        error("cuda.check_sanitizer", r"invalid __\w+__ (?:read|write)|out-of-bounds shared or local|=========\s+(?:address 0x\w+ is (?:out of bounds|misaligned))",
              "invalid __", "out-of-bounds shared", "is out of bounds", "is misaligned"),
    ),
    clues=(
        ("said.debugger", 4.2, "the debugger stopped a kernel that touched what it must not"),
        ("cuda.illegal_address", 3.2, "a kernel touched memory that is not its own (error 700)"),
        ("cuda.misaligned_address", 3.2, "a kernel touched memory at a wrong boundary (error 716)"),
        ("cuda.invalid_address_space", 3.0, "a kernel used an address of another space (error 717)"),
        ("cuda.invalid_pc", 2.8, "a kernel jumped astray (error 718)"),
        ("cuda.illegal_instruction", 2.4, "a kernel met an illegal instruction (error 715)"),
        ("cuda.launch_failed", 2.9, "a kernel failed, most often by touching memory that is not its own (error 719)"),
        ("cuda.check_sanitizer", 4.8, "compute-sanitizer names the kernel that touches foreign memory"),
        ("kernel.xid", 3.4, "Xid {xid}: a program touched memory that is not its own", xid(13, 31, 43)),
        ("program.pointer", 4.0, "a pointer was handed over that the allocator did not give out"),
        ("program.illegal_words", 3.0, "an illegal memory access is named"),
        ("cuda.invalid_device_pointer", 2.6, "a pointer is not the GPU's"),
        ("cuda.invalid_handle", 1.9, "a handle is used where it does not belong (error 400)"),
        ("cuda.launch_timeout", 2.0, "a kernel does not end (error 702)"),
        ("cudnn.mapping_error", 1.8, "an earlier kernel touched memory that is not its own"),
        ("cudnn.execution_failed", 1.4, "an earlier kernel may have failed"),
        ("cublas.execution_failed", 1.4, "an earlier kernel may have failed"),
        ("cublas.mapping_error", 2.0, "an earlier kernel touched memory that is not its own"),
        ("signal.heap", 1.8, "the program wrote beyond its own memory on the host"),
        ("signal.segv", 3.0, "the program, which was compiled there, touched memory that is not its own, or gave a library what it cannot use", own_program),
        ("signal.segv", 1.2, "the program touched memory that is not its own"),
        ("cuda.invalid_value", 3.0, "{call} was given an address that is not, or no longer, the GPU's (error 1)",
         field("call", "cu(?:da)?mem(?!pool)|cu(?:da)?free|cu(?:da)?host|cu(?:da)?pointer")),
        ("cuda.invalid_value", 3.0, "Thrust copied from or to an address that is not the GPU's (error 1)", line(r"__copy|[dh]->[dh]\b|trivial_device_copy")),
        ("cuda.invalid_value", 1.0, "a wrong argument (error 1)", no(line("cuinit"))),
        ("cuda.invalid_host_pointer", 3.0, "a pointer is not the host's (error 16)"),
        ("cuda.address_of_constant", 2.6, "the address of a constant was taken (error 22)"),
        ("cuda.prior_launch_failure", 2.4, "an earlier kernel failed"),
        ("tf.stream_failed", 1.0, "an earlier kernel failed"),
        ("cudnn.execution_failed_cuda_driver", 2.0),
        ("cudnn.execution_failed_cudart", 2.0),
        ("cusolver.execution_failed", 3.0),
        ("cufft.exec_failed", 3.0),
        ("cusparse.execution_failed", 3.0),
        ("curand.launch_failure", 2.2),
        ("curand.preexisting_failure", 3.0),
    ),
    ladder=out_of_bounds,
    remedies=(
        meant(CRASH, FAULTS, said="signal.segv", safe=True),
        meant("Find the CUDA kernel that fails", "compute-sanitizer python PROGRAM", safe=True),
        meant("Set CUDA_LAUNCH_BLOCKING=1, so that the traceback shows the line that really failed", SYNCHRONOUS, safe=True),
        meant("If the kernel is a library's, try its newest release", "pip install --upgrade torch", by="torch", safe=True),
        meant("If the kernel is a library's, try its newest release", pip_newest("tensorflow", "--upgrade"), by="tensorflow", safe=True),
        meant("If the kernel is a library's, try its newest release", pip_newest("jax", "--upgrade"), by="jax", safe=True),
    ),
)  # fmt: skip
