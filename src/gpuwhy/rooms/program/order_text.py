"""program.order in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.conditions import driver_call, field
from gpuwhy.rooms.text.fragments import ORDER_COVERS
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.program_ways import in_order
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "program.order",
    signatures=(
        error(
            "order.capturing",
            r"(?:during|while|in) (?:an? )?(?:active )?(?:cuda |hip |stream |graph )*captur(?:e|ing)\b"
            r"|graphs? must be captured on a non-default stream|capture must end on the same stream"
            r"|cannot call (?P<call>[\w.:]+) (?:while|during|when)[^\n]{0,40}captur|offset increment outside graph capture|captures_?underway|currentstreamcapturestatus"
            r"|already owns a captured graph"
            r"|graph capture[^\n]{0,40}(?:invalid|not (?:be )?(?:allowed|permitted|supported))|cuda graph is empty"
            r"|cuda generator expects graph capture"
            r"|cannot be captured in a graph"
            r"|not (?:permitted|allowed|supported)[^\n]{0,40}(?:stream is capturing|(?:cuda )?graph capture)"
            r"|stream is capturing|not permitted when stream\b|capturing nccl collectives",
            "permitted when stream", "capture", "capturing", "captured", "underway", "cuda graph is empty",
            covers=("python.", "torch.internal_assert", "nccl.other", "cuda.not_permitted"),
        ),
        error("order.in_place",
              r"modified by an inplace operation|(?:leaf|a view of a leaf) variable [^\n]{0,60}in-?place operation"
              r"|trying to backward through the graph a second time"
              r"|saved (?:intermediate values|tensors) [^\n]{0,60}already been freed"
              r"|does not require grad and does not have a grad_fn",
              "inplace operation", "in-place operation", "the graph a second time", "already been freed", "does not have a grad_fn", covers=("python.", "title.", *ORDER_COVERS)),
        error("order.replayed", r"tensor output of cudagraphs that has been overwritten"
              r"|cudagraphs? [^\n]{0,60}overwritten by a subsequent run", "cudagraphs that has been",
              "by a subsequent run", covers=ORDER_COVERS),
        error(
            "order.after_start",
            r"(?P<what>(?:visible|physical|virtual|logical) devices|(?:inter|intra) op parallelism"
            r"|soft device placement|device policy|synchronous execution)[^\n]{0,40}cannot be (?:modified|changed"
            r"|set) after"
            r"|(?:cannot|can't|can not|could not) (?:set|change|modify|update|swap|configure|resize|enable"
            r"|switch)[^\n]{0,80}(?:after|once|already)[^\n]{0,60}(?:initiali[sz]ed|initiali[sz]ation|started"
            r"|launched|created|been set|running)"
            r"|(?:must|should|needs? to|has to) be (?P<did>called|set|updated|configured|enabled|done|initiali[sz]ed"
            r"|imported)[^\n]{0,40}(?:at (?:program )?start ?up"
            r"|before (?:any|the|calling|creating|importing|initiali[sz]\w+|backends?|jax|torch|tensorflow|cuda"
            r"|other)[^\n]{0,60})"
            r"|(?:cannot|can't) be (?:modified|changed|set|called|used|updated) (?:after|once)[^\n]{0,60}(?:initiali[sz]\w+|started|been set|created)"
            r"|already initiali[sz]ed[^\n]{0,40}cannot be changed|swap an already initiali[sz]ed allocator",
            "cannot be", "can't be", "at program start", "at startup", "before any", "before the", "before back",
            "before calling", "before creating", "before importing", "before initial", "before jax", "before torch",
            "before tensorflow", "before cuda", "before other", "cannot set", "can't set", "cannot change",
            "can't change", "cannot modify", "could not set", "can't swap", "cannot update", "cannot configure",
            "cannot resize", "cannot enable", "cannot switch",
            "already initialized",
            covers=ORDER_COVERS,
        ),
        error("order.growth", r"memory growth cannot differ|cannot set memory growth on device when virtual devices"
              r"|cannot (?:set|configure)[^\n]{0,40}virtual devices? [^\n]{0,60}memory growth",
              "memory growth", covers=ORDER_COVERS),
        error(
            "order.not_yet",
            r"(?P<what>[\w. ]{3,60}) (?:has|have|is|was)(?:n't| not) (?:yet )?(?:been )?(?:initiali[sz]ed|started"
            r"|set ?up)[^\n]{0,20}(?:please|;|,|use|call|did you|make sure)[^\n]{0,60}\b(?:init\w*|start\w*|set ?up)"
            r"|(?:must|should|need to|please) (?:first )?(?:call|run|use) [`'\"]?[\w.]*init\w*[^\n]{0,20}(?:first"
            r"|before)|called before [`'\"]?[\w.]*init"
            r"|\b[\w.]*init\w*(?:\(\))? (?:must|should|has to|needs to) be called (?:first|before)",
            "not been init", "not been start", "is not init", "not yet init", "hasn't been", "not been set up",
            "isn't init", "must call", "should call", "need to call", "must first call", "please call",
            "called before", "called first",
            covers=ORDER_COVERS,
        ),
        error("tf.config_late", r"physical devices cannot be modified after being initialized|memory growth cannot differ", "devices cannot be modified",
              "memory growth cannot differ"),
    ),
    clues=(
        ("kin.unready", 3.8, "a call of {library} came before what it works on was made, or after that was gone ({name})"),
        ("kin.entry", 4.4, "{call} was given a handle or a descriptor that was never made ({name})", field("name", r"handle|desc\w*|plan|info")),
        ("said.not_present", 4.0, "data is used on the device before it was brought there, or after it was taken away"),
        ("said.dead_context", 3.0, "the CUDA context is used before it was made, or after it was ended"),
        ("cuda.not_initialized", 4.4, "a call of the driver came before cuInit (error 3)", driver_call),
        ("cuda.invalid_context", 4.0, "a call of the driver came before a context was made, or in a thread without one (error 201)", driver_call),
        ("cuda.invalid_context", 3.4, "there is no CUDA context where the call is made: not yet, no longer, or not in this thread (error 201)"),
        ("cuda.context_is_destroyed", 3.4, "the context is used after it was ended (error 709)"),
        ("cuda.illegal_state", 4.2, "the call is not allowed in the state that the stream or the graph is in (error 401)"),
        ("cuda.stream_capture_", 4.4, "the stream is being captured into a graph, where this call is not allowed"),
        ("cuda.captured_event", 4.2, "an event of a stream that is being captured was used outside"),
        ("cuda.graph_recapture_failure", 3.6, "the graph could not be captured again"),
        ("order.capturing", 4.4, "a call that is not allowed while a CUDA graph is captured"),
        ("refused.group", 1.6, "the group of processes is used at the wrong moment, or in a way that it does not take"),
        ("refused.moment", 3.4, "a framework refuses it at this moment: too early, too late or twice (the message names it)"),
        ("order.in_place", 2.6, "autograd needs a value that was changed, freed or never recorded (the message names it)"),
        ("cuda.invalid_value", 2.8, "{call} was given a stream, event or graph that is not in the state for it (error 1)", field("call", "cu(?:da)?(?:stream|event|graph)")),
        ("cuda.invalid_handle", 2.6, "{call} was given a stream, event or graph that does not exist, or no longer (error 400)", field("call", "cu(?:da)?(?:stream|event|graph)")),
        ("order.replayed", 4.6, "the output of a CUDA graph was used after the graph ran again"),
        ("order.after_start", 4.4, "something was set up after CUDA or the framework had started (the message names it)"),
        ("order.growth", 5.0, "memory growth is set on some GPUs only, or beside virtual devices"),
        ("tf.config_late", 4.6, "the program sets up the GPU too late"),
        ("order.twice", 4.0, "the program does something twice that is allowed only once (the message names it)"),
        ("order.not_yet", 4.2, "something was used before it was initialised (the message names it)"),
        ("order.deleted", 3.6, "an array was used after it had been given away (donated or deleted)"),
        ("order.main_guard", 3.8, "processes are started while the main module is still being imported"),
        ("cuda.already_", 3.2, "a resource was taken or mapped twice"),
        ("cuda.array_is_mapped", 3.2, "an array is still mapped (error 207)"),
        ("cuda.not_mapped", 3.2, "a resource is used that is not mapped (error 211)"),
        ("cuda.unmap_failed", 2.8, "a resource could not be unmapped (error 206)"),
        ("cuda.profiler_", 2.8, "the profiler was started or stopped at the wrong moment"),
        ("cuda.deinitialized", 3.2, "CUDA was already shutting down (error 4): something is freed or used at the program's end"),
        ("cuda.not_ready", 2.4, "the work that was asked about is not done yet (error 600)"),
        ("cuda.stream_detached", 3.0, "a stream is used whose context is gone (error 917)"),
        ("cuda.invalid_graphics_context", 2.8, "the graphics context is not this thread's (error 219)"),
        ("cuda.primary_context_active", 2.8, "the context was already active (error 708)"),
        ("cuda.context_already_in_use", 2.6, "the context was already in use"),
    ),
    ladder=in_order,
    remedies=(
        meant("C++: capture this thread's calls only, so that those of other threads are allowed; and never synchronise the whole device meanwhile",
              on.code("cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)"), said="cuda.stream_capture_ order.capturing",
              line=r"cudaDeviceSynchronize|cudaMalloc|cudaFree|legacy", unless="ggml"),
        meant("Mark each step, or keep a copy of the output", on.code("torch.compiler.cudagraph_mark_step_begin()    # or output.clone()"), said="order.replayed"),
        meant("Set memory growth for every GPU, right after the import", on.code("for gpu in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(gpu, True)"),
              said="order.growth tf.config_late", by="tensorflow"),
        meant("Or by a variable, before the program starts", "export TF_FORCE_GPU_ALLOW_GROWTH=true", said="order.growth tf.config_late", line="growth|physical", safe=True),
        meant("Initialise once: guard the call", on.code("if not torch.distributed.is_initialized(): torch.distributed.init_process_group()"),
              said="order.twice", line="process group"),
        meant("Set the start method once, in the main module", on.code("if __name__ == '__main__': torch.multiprocessing.set_start_method('spawn', force=True)"),
              said="order.twice", line="context has already"),
        meant("Initialise once: find the second call, or the library that makes the first", said="order.twice"),
        meant("Call the initialisation first, in every process", on.code("torch.distributed.init_process_group()"), said="order.not_yet", line="process group"),
        meant("Call the initialisation first, in every process", said="order.not_yet"),
        meant("Use the function's result, not the array that was donated; or do not donate it", said="order.deleted"),
        meant("Start processes only under the main guard", on.code("if __name__ == '__main__': main()"), said="order.main_guard"),
        meant("Move the set-up to the top of the program, before the first tensor"),
    ),
)  # fmt: skip
