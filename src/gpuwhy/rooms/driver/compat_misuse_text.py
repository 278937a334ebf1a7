"""driver.compat_misuse in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.messages import NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_GPU, NO_START
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.common import BARE
from gpuwhy.rooms.text.conditions import all_of, field, in_container, whole
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import drivers_differ

_COMPAT = whole(r"[/-]compat\b|forward compat|cuda_compat")
"""The text tells of a cuda-compat folder or package."""

TEXT = Text(
    "driver.compat_misuse",
    signatures=(
        error("nvidia.compat_first", r"\blibcuda\.so[.\d]* (?:=>|from|in|is) \S{0,120}/compat/"
              r"|/compat\b[^\n]{0,60}\b(?:comes? first|before|wins|is found first)", "/compat", covers=("remark.shadow",
            "loader.ldd")),
    ),
    clues=(
        ("nvidia.compat_first", 3.6, "the loader takes libcuda from a cuda-compat folder"),
        ("cuda.system_driver_mismatch", 5.0, "the libcuda of a cuda-compat folder is not the kernel module's (error 803)", _COMPAT),
        ("title.804", 4.4, "803 is the number of a mismatched libcuda, and a cuda-compat folder is told of", all_of(field("digit", "3"), _COMPAT)),
        ("cuda.compat_not_supported_on_device", 4.4, "a cuda-compat libcuda was used on a card that does not allow it (error 804)"),
        ("cuda.system_driver_mismatch", 2.6, "another libcuda than the kernel module's was used (error 803)", BARE),
        ("cuda.system_driver_mismatch", 4.4, "another libcuda than the kernel module's was used in a container (error 803)", in_container),
        ("tf.dso_mismatch", 1.8, "the libcuda that was loaded is not the kernel module's", BARE),
        ("tf.dso_mismatch", 3.0, "the libcuda that was loaded is not the kernel module's", in_container),
        ("told.compat_path", 2.6, "a cuda-compat folder is in play"),
        ("tf.cuinit", 3.4, "libcuda in the container is not the kernel module's", all_of(drivers_differ, in_container)),
        ("title.804", 3.0, "804 is the number of a misused cuda-compat", field("digit", "4")),
        ("title.804", 1.6, "803 is the number of a mismatched libcuda", field("digit", "3")),
    ),
    remedies=(
        meant("Do not set LD_LIBRARY_PATH in the image, so that the host's libcuda (from the container runtime) is found before the image's own in /usr/local/cuda/compat",
              on.linux("docker run --gpus all -e LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu IMAGE"), by="container"),
        meant("Or remove the compat libraries from the image", on.dockerfile("RUN rm -rf /usr/local/cuda*/compat /etc/ld.so.conf.d/*compat*.conf && ldconfig"), by="container"),
        meant("Take the cuda-compat libraries out: the folder from the search path, and the package where the card does not allow it (GeForce)",
              on.linux("unset LD_LIBRARY_PATH && sudo apt remove 'cuda-compat-*'"), root=True, unless="container"),
        meant("Or update the host's driver to one that speaks the image's CUDA itself: then nothing needs the compat libraries", NEWEST_DRIVER, root=True, reboot=True),
        meant("In the image, or on the host: remove the package", on.linux("sudo apt remove 'cuda-compat-*'"), root=True),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip
