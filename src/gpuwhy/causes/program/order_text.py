"""program.order in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.causes.text.meant import meant
from gpuwhy.causes.text.room import Text

TEXT = Text(
    "program.order",
    clues=(
        ("cuda.stream_capture_", 4.4, "the stream is being captured into a graph, where this call is not allowed"),
        ("cuda.captured_event", 4.2, "an event of a stream that is being captured was used outside"),
        ("cuda.graph_recapture_failure", 3.6, "the graph could not be captured again"),
        ("order.capturing", 4.4, "a call that is not allowed while a CUDA graph is captured"),
        ("order.replayed", 4.6, "the output of a CUDA graph was used after the graph ran again"),
        ("order.after_start", 4.4, "something was set up after the runtime had started"),
        ("order.growth", 5.0, "memory growth is set on some GPUs only, or beside virtual devices"),
        ("tf.config_late", 4.6, "the program sets up the GPU too late"),
        ("order.twice", 4.0, "something was initialised a second time"),
        ("order.not_yet", 4.2, "something was used before it was initialised"),
        ("order.deleted", 3.6, "an array was used after it had been given away (donated or deleted)"),
        ("order.main_guard", 3.8, "processes are started while the main module is still being imported"),
        ("cuda.primary_context_active", 2.8, "the context was already active (error 708)"),
        ("cuda.context_already_in_use", 2.6, "the context was already in use"),
    ),
    remedies=(
        meant("Run the step once before the capture, and keep allocation, .item(), .cpu() and prints out of it", said="cuda.stream_capture_ cuda.captured_event order.capturing"),
        meant("PyTorch: see whether graphs are at fault: compile without them", "torch.compile(model, mode='default')    # not 'reduce-overhead'", said="cuda.stream_capture_ order.capturing order.replayed", by="torch"),
        meant("Mark each step, or keep a copy of the output", "torch.compiler.cudagraph_mark_step_begin()    # or output.clone()", said="order.replayed"),
        meant("Set memory growth for every GPU, right after the import", "for gpu in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(gpu, True)", said="order.growth tf.config_late", by="tensorflow"),
        meant("Or by a variable, before the program starts", "export TF_FORCE_GPU_ALLOW_GROWTH=true", said="order.growth tf.config_late", line="growth|physical", safe=True),
        meant("Move the set-up to the top of the program, before the first tensor and before other imports; restart a notebook's kernel", said="order.after_start tf.config_late"),
        meant("Initialise once: guard the call", "if not torch.distributed.is_initialized(): torch.distributed.init_process_group()", said="order.twice", line="process group"),
        meant("Set the start method once, in the main module", "if __name__ == '__main__': torch.multiprocessing.set_start_method('spawn', force=True)", said="order.twice", line="context has already"),
        meant("Initialise once: find the second call, or the library that makes the first", said="order.twice"),
        meant("Call the initialisation first, in every process", "torch.distributed.init_process_group()", said="order.not_yet", line="process group"),
        meant("Call the initialisation first, in every process", said="order.not_yet"),
        meant("Use the function's result, not the array that was donated; or do not donate it", said="order.deleted"),
        meant("Start processes only under the main guard", "if __name__ == '__main__': main()", said="order.main_guard"),
        meant("Move the set-up to the top of the program, before the first tensor"),
    ),
)  # fmt: skip
