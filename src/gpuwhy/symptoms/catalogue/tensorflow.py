"""TensorFlow and XLA: the log lines of stream_executor, gpu_device, dso_loader, the BFC allocator and status texts."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error

SIGNATURES: tuple[Signature, ...] = (
    error("tf.cupti", r"failed with error cupti could not be loaded", "cupti could not be loaded"),
    context("tf.cuinit", r"failed call to cuinit", "failed call to cuinit"),
    context("tf.libcuda_version", r"libcuda reported version is: (?P<version>\d+\.[\d.]*\d)", "libcuda reported version is"),
    context("tf.kernel_version", r"kernel reported version is: (?P<version>\d+\.[\d.]*\d)", "kernel reported version is"),
    error(
        "tf.no_kernel_driver",
        r"kernel driver does not appear to be running on this host|/proc/driver/nvidia/version does not exist",
        "kernel driver does not appear",
        "/proc/driver/nvidia/version does not exist",
    ),
    error(
        "tf.dso_mismatch",
        r"kernel version (?P<kernel>[\d.]+) does not match dso version (?P<library>[\d.]+)",
        "does not match dso version",
    ),
    error(
        "tf.no_cuda_drivers",
        r"could not find cuda drivers on your machine",
        "could not find cuda drivers",
    ),
    error(
        "tf.cudnn_loaded",
        r"loaded (?:runtime )?cudnn (?:library|version)[: ]*(?P<loaded>[\d.]+)(?: \(compatibility version (?P<compat>\d+)\))?"
        r"[, ]*(?:but source was compiled wit(?:h[: ]*(?P<built>\d[\d.]*\d)?)?)",
        "source was compiled wit",
    ),
    error(
        "tf.cudnn_handle",
        r"could not create cudnn handle:? ?(?P<status>cudnn_status_\w+)?",
        "could not create cudnn handle",
        covers=("cudnn.",),
    ),
    echo("tf.cudnn_destroy", r"could not destroy cudnn handle", "could not destroy cudnn handle", covers=("cudnn.",)),
    error("tf.cudnn_version", r"failed to determine cudnn version|error retrieving driver version", "determine cudnn version"),
    error(
        "tf.conv_algorithm",
        r"failed to get convolution algorithm|cudnn failed to initialize",
        "failed to get convolution algorithm",
        "cudnn failed to initialize",
    ),
    error(
        "tf.no_algorithm",
        r"no algorithm worked|no algorithm without workspace worked|failed to determine best cudnn convolution algorithm"
        r"|autotuning failed|could not autotune",
        "no algorithm worked", "no algorithm without workspace", "best cudnn convolution algorithm", "autotuning failed",
    ),
    echo("tf.dnn_init", r"dnn library initialization failed", "dnn library initialization failed"),
    error("tf.conv_check", r"check failed: (?!status == cudnn_status_success \(\d+ vs\. 0\) ).*(?:getconvolvealgorithms|getcudnnversion|cudnn)", "check failed: "),
    error(
        "tf.blas",
        r"blas (?:x?gemm|xgemv|gemv|gemmbatched|sgemm|scal)\w* launch failed|failed to run cublas|cublas\w* routine"
        r"|without blas support|failed to enqueue (?:convolution|blas)|failed to create cublas handle"
        r"|failed to create a? ?(?:cublas|cusolver|cusparse)\w* ?(?:handle|instance)",
        "launch failed", "failed to run cublas", "without blas support", "failed to enqueue", "failed to create cublas",
        "failed to create cusolver", "failed to create a cublas", "failed to create cusparse",
    ),
    echo("tf.blas_hint", r"failure to initialize cublas may be due to oom", "failure to initialize cublas", covers=("generic.cpu_build", "opencv.no_cuda")),
    context("tf.memory_usage", r"memory usage: (?P<free>\d+) bytes free, (?P<total>\d+) bytes total", "bytes free,"),
    error("tf.rnn", r"fail(?:ed)? to find the dnn implementation|failed to call (?:do|then)rnn(?:forward|backward)"
          r"|gpu sync failed|failed to launch (?:cub|gpuprim)", "failed to call", "the dnn implementation",
          "gpu sync failed",
          "failed to launch cub", "failed to launch gpuprim"),
    error(
        "tf.ignored_gpu",
        r"ignoring (?:visible )?gpu device [^\n]*?name: (?P<gpu>[^,]+),[^\n]*?(?:cuda )?compute capability (?P<has>[\d.]+)\."
        r" the minimum required (?:cuda )?capability is (?P<needs>[\d.]*\d)",
        "the minimum required",
    ),
    error(
        "tf.ignored_cores",
        r"ignoring (?:visible )?gpu device [^\n]*core count",
        "with core count",
    ),
    error(
        "tf.cpu_device_only",
        r"cannot assign a device for operation[^\n]*|available devices are \[ ?(?P<devices>[^\]]*)\]",
        "cannot assign a device for operation",
        "but available devices are",
    ),
    error("tf.skipping", r"skipping registering gpu devices", "skipping registering gpu devices"),
    error("tf.no_gpu_found", r"no gpu found\. please|gpu device not found|no gpu found,|no gpu devices available on machine", "no gpu found",
          "gpu device not found", "no gpu devices available"),
    error(
        "tf.ptxas_missing",
        r"couldn'?t (?:invoke|get) ptxas|ptxas (?:binary )?(?:not found|could not be found|is not found)|cannot find ptxas"
        r"|failed to (?:find|launch|run|spawn)[^\n]{0,30}ptxas|no such file[^\n]*ptxas|ptxas[^\n]*no such file"
        r"|couldn't find a suitable version of ptxas|no ptxas|no ptx compilation provider is available",
        "ptxas", "ptx compilation provider",
    ),
    error(
        "tf.libdevice",
        r"libdevice(?:\.10\.bc| directory| is required| not found)|failed to (?:find|load) libdevice|missing libdevice",
        "libdevice",
    ),
    error(
        "tf.built_cpu",
        r"is_buil[td]_with_(?:cuda|gpu_support)\(?\)?[^\n]{0,30}?\bfalse|built[ _]with[ _]cuda\W{0,4}false"
        r"|not built with (?:cuda|gpu) support|compiled without (?:cuda|gpu)",
        "_with_cuda", "_with_gpu_support", "built with cuda", "built with gpu", "compiled without",
    ),
    error(
        "tf.partial",
        r"module ['\"]?tensorflow['\"]? has no attribute ['\"](?P<name>__version__|config|constant|keras|Variable|test)['\"]",
        "module 'tensorflow' has no attribute",
        covers=("python.attribute",),
    ),
    error(
        "tf.old_api",
        r"module ['\"]?tensorflow[\w.]*['\"]? has no attribute ['\"](?P<name>\w+)['\"]",
        "module 'tensorflow",
        covers=("python.attribute",),
    ),
    error("tf.pywrap", r"no module named '?_pywrap_tensorflow|error[^\n]*_pywrap_tensorflow_internal(?!\.so' failed)", "_pywrap_tensorflow", covers=("python.module",)),
    context("tf.import_frame", r"pywrap_tensorflow(?:_internal)?\.py|_pywrap_tensorflow_internal|self_check\.py", "pywrap_tensorflow", "self_check.py"),
    error(
        "tf.few_devices",
        r"expect the following devices to be available[^\n]*machine only has: \[(?P<devices>[^\]\n]*)\]|device:gpu:(?P<device>\d+) unknown device"
        r"|requested devices in [^\n]{0,30}strategy[^\n]{0,3} are not visible to tensorflow|'visible_device_list' listed an invalid"
        r"|could not satisfy device specification '[^'\n]*gpu:(?P<device2>\d+)",
        "machine only has:", "unknown device", "not visible to tensorflow", "'visible_device_list'", "satisfy device specification",
        covers=("python.exception",),
    ),
    error("tf.no_opkernel", r"no opkernel was registered to support op '?(?P<op>\w+)", "no opkernel was registered"),
    context("tf.registered", r"registered devices: \[(?P<devices>[^\]\n]*)\]|(?P<none><no registered kernels>)", "registered devices:", "<no registered kernels>"),
    error("tf.cudart_stub", r"cudageterror(?:name|string) symbol not found|_stub\.cc:\d+\] \w+ symbol not found",
          "symbol not found.", covers=("cuda.name", "cuda.number", "loader.mac_symbol", "title.")),
    error("tf.ptxas_old",
          r"ptxas too old|you are using ptxas [\d.]+, which is older than|ptxas does not support cc \d",
          "ptxas too old", "you are using ptxas", "ptxas does not", covers=("tf.ptxas_version", "title.", "torch.")),
    error("tf.malloc_async", r"cuda_malloc_async (?:isn't|is not) (?:currently )?supported", "cuda_malloc_async is"),
    error("tf.addons", r"tensorflow addons supports using python ops"
          r"|versions? of tensorflow you are (?:currently )?using is [\d.]+ and is not supported",
          "addons supports using", "and is not supported"),
    error("tf.op_library", r"(?P<library>_\w+\.so) not found|load_op_library[^\n]*not found", "_ops.so not found", "_op.so not found", "load_op_library"),
    echo("tf.native_runtime", r"failed to load the native tensorflow runtime", "failed to load the native tensorflow"),
    error(
        "tf.stream_failed",
        r"(?:could not synchronize cuda stream|failed to query event|failed to (?:enqueue|synchronize)[^\n]*stream"
        r"|error polling for event status|unexpected event status)",
        "unexpected event status", "synchronize cuda stream", "failed to query event", "polling for event status", "failed to synchronize",
    ),
    error(
        "tf.used_elsewhere",
        r"(?:failed to (?:get|create)|could not (?:retain|create)|error: )[^\n]*(?:primary )?context",
        "primary context", "failed to get device", "could not retain",
    ),
    error("tf.version_deps", r"requires? cuda (?P<cuda>[\d.]+)[^\n]*cudnn (?P<cudnn>[\d.]+)", "cudnn"),
)  # fmt: skip
