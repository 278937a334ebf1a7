"""device.hardware in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import BROKEN_OFF, NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_GPU, NO_START
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.common import nothing_else, said_of
from gpuwhy.rooms.text.conditions import any_of, with_, xid, xid_of_hardware
from gpuwhy.rooms.text.driver_ways import with_hardware
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import TDR
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "device.hardware",
    signatures=(
        error("kernel.tdr", r"nvlddmkm[^\n]*(?:stopped responding|event id|error occurred|cannot be found)|event id (?:13|14|153)[^\n]*nvlddmkm", "nvlddmkm"),
        error("kernel.device_removed",
              r"dxgi_error_device_(?:hung|removed|reset)|0?x?887a000[567]\b|vk_error_device_lost"
              r"|d3d(?:1[12])?:? device (?:being )?(?:lost|removed|hung)|device removed reason", "dxgi_error_device",
              "887a000", "vk_error_device_lost", "device being lost", "device removed", "device lost"),
        error("kernel.pcie", r"pcie bus error|\baer:[^\n]*(?:error|fatal)|bar \d[^\n]*(?:no space|can't assign|failed)|pci i/o region[^\n]*invalid",
              "pcie bus error", "aer:", "pci i/o region", "can't assign", "no space for"),
        error("kernel.ecc", r"uncorrectable (?:ecc )?(?:memory )?error(?!s? *: *(?:0|no))|double[- ]bit (?:ecc )?error"
              r"|row[- ]?remap\w*[^\n]*(?:failure|pending)(?![^\n]*: *(?:no|0))"
              r"|ecc error(?!s\b)|page retirement[^\n]*pending(?![^\n]*: *(?:no|0))", "uncorrectable", "double bit", "double-bit", "remap", "page retirement", "ecc error"),
        error("kernel.nvlink", r"nvlink[^\n]*(?:error|fatal|fail|inactive|down)", "nvlink"),
        error("kernel.gsp", r"gsp[^\n]*(?:fail|timeout|error)|failed to (?:copy vbios|initialize gsp)", "gsp"),
        error("nvidia.no_handle", r"unable to determine the device handle for (?:gpu)? ?(?P<device>[\w:.]+)(?:: (?P<why>[\w ]+))?",
              "determine the device handle"),
        error("nvidia.lost", r"gpu is lost|gpu has fallen off the bus|gpu_is_lost", "gpu is lost", "fallen off the bus", "gpu_is_lost"),
        error("nvidia.err", r"\|[^\n]*\berr!|\berr!\W[^\n]{0,40}nvidia-smi|nvidia-smi[^\n]{0,60}\berr!", "err!"),
        error("nvidia.power",
              r"power (?:cable|connector)s?[^\n]*(?:not|missing)|thermal (?:slowdown|shutdown|throttl)|overheat"
              r"|temperature (?:limit|threshold|abort)[^\n]{0,40}(?:reached|exceeded|met|trigger|abort)|"
              r"hw slowdown|gpu (?:clock|power) (?:throttl|brake)", "power cable", "power connector", "thermal ", "overheat", "hw slowdown", "temperature "),
    ),
    clues=(
        ("kernel.device_removed", 3.6, "the system took the card away from the program: a time limit, its driver or the card itself"),
        ("cuda.ecc_uncorrectable", 5.2, "the GPU's memory has an error that cannot be corrected (error 214)"),
        ("cuda.nvlink_uncorrectable", 4.8, "NVLink has an error that cannot be corrected (error 220)"),
        ("cuda.contained", 4.4, "the hardware reported an error (error 226)"),
        ("cuda.hardware_stack_error", 3.4, "the hardware stack failed (error 714)"),
        ("kernel.xid", 4.6, "Xid {xid} is a fault of the hardware", any_of(xid_of_hardware, xid(94))),
        ("kernel.xid", 3.0, "Xid {xid}: the GPU or its link to the host may be at fault", xid(32, 44, 109)),
        ("kernel.xid", 1.2, "Xid {xid} was logged", xid(8, 13, 69)),
        ("kernel.off_bus", 5.2, "the GPU has fallen off the bus"),
        ("nvidia.lost", 5.0, "the GPU is lost"),
        ("nvml.gpu_is_lost", 5.0, "the GPU is lost"),
        ("nvml.corrupted_inforom", 3.8, "the GPU's stored data is damaged"),
        ("nvml.reset_required", 3.4, "the GPU needs a reset"),
        ("nvml.irq_issue", 3.2, "the GPU's interrupts do not arrive"),
        ("nvml.insufficient_power", 4.4, "the GPU lacks its power cables"),
        ("nvidia.reset_required", 3.2, "the GPU needs a reset"),
        ("nvidia.no_handle", 4.2, "the driver has lost GPU {device}"),
        ("kernel.tdr", 3.4, "Windows reset the card because it did not answer"),
        ("kernel.code43", 3.6, "Windows has stopped the card"),
        ("nvidia.err", 3.6, "nvidia-smi shows ERR! for a GPU"),
        ("remark.hot", 3.4, "the text tells of a card that is too hot, or whose fan stands", with_("kernel.", "nvidia.", "cuda.", "title.", "signal.")),
        ("nvidia.power", 3.2, "power or heat is in play"),
        ("kernel.ecc", 3.8, "memory errors are logged"),
        ("kernel.pcie", 2.9, "the PCIe link has errors"),
        ("kernel.nvlink", 2.8, "NVLink has errors"),
        ("kernel.adapter", 3.0, "the NVIDIA module could not start the card"),
        ("kernel.gsp", 2.6, "the GPU's own processor does not answer"),
        ("kernel.probe", 1.8, "the NVIDIA module found no device that it drives"),
        ("nvidia.no_devices", 2.4, "the driver is loaded, but finds no GPU"),
        ("cuda.launch_failed", 2.7, "a kernel failed without a reason (error 719), as on a failing card"),
        ("cuda.illegal_instruction", 1.9, "an illegal instruction (error 715), as on a failing card"),
        ("cuda.unknown", 1.0, "an unknown error (999), as on a failing card"),
        ("cuda.illegal_address", 0.7, "an illegal address (error 700), as on a failing card"),
        ("tf.stream_failed", 0.6, "the work on the GPU failed"),
        ("cuda.launch_timeout", 1.6, "a kernel did not end (error 702)"),
        ("cuda.external_device", 2.0, "an error outside of CUDA (error 911)"),
        ("torch.nvml_assert", 1.0, "NVML failed"),
        ("told.random", 1.2, "it comes at random", with_("cuda.launch", "cuda.illegal", "cuda.unknown", "nvidia.", "kernel.", "cudnn.exec", "cuda.ecc")),
        ("title.shutdown", 2.2, "the machine goes down under load", nothing_else),
        ("title.crash", 0.4, "it crashes", nothing_else),
        ("title.trouble", 2.0, "the GPU vanishes", said_of(r"disappear|vanish|\blost\b|temperature|overheat")),
        ("cudnn.execution_failed_cuda_driver", 1.0),
        ("cufft.exec_failed", 2.2),
        ("nvml.timeout", 2.0),
    ),
    ladder=with_hardware,
    remedies=(
        *TDR,
        meant(on.in_windows("read what the display driver says in the event log (in PowerShell)"), on.powershell("Get-WinEvent -FilterHashtable @{LogName='System'; ProviderName='nvlddmkm'} -MaxEvents 20"),
              look=True),
        meant("Read the kernel log", on.linux("sudo dmesg | grep -i -e xid -e nvrm"), root=True, look=True),
        meant("Move the card to another slot or machine; check power and cooling"),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER, *BROKEN_OFF),
)  # fmt: skip
