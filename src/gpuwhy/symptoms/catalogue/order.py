"""Order: what is not allowed at this moment, though it would be at another."""

from __future__ import annotations

from gpuwhy.symptoms.signature import Signature, error

_PLAIN = ("python.", "tf.config_late", "torch.internal_assert")

SIGNATURES: tuple[Signature, ...] = (
    error(
        "order.capturing",
        r"(?:during|while|in) (?:an? )?(?:active )?(?:cuda |hip |stream |graph )*captur(?:e|ing)\b|graphs? must be captured on a non-default stream|capture must end on the same stream"
        r"|cannot call (?P<call>[\w.:]+) (?:while|during|when)[^\n]{0,40}captur|offset increment outside graph capture|captures_?underway|currentstreamcapturestatus"
        r"|already owns a captured graph|graph capture[^\n]{0,40}(?:invalid|not (?:be )?(?:allowed|permitted|supported))|cuda graph is empty|cuda generator expects graph capture"
        r"|cannot be captured in a graph|not (?:permitted|allowed|supported)[^\n]{0,40}(?:stream is capturing|(?:cuda )?graph capture)|stream is capturing|not permitted when stream\b|capturing nccl collectives",
        "permitted when stream", "capture", "capturing", "captured", "underway", "cuda graph is empty",
        covers=("python.", "torch.internal_assert", "nccl.other", "cuda.not_permitted"),
    ),
    error("order.replayed", r"tensor output of cudagraphs that has been overwritten|cudagraphs? [^\n]{0,60}overwritten by a subsequent run", "cudagraphs that has been", "by a subsequent run", covers=_PLAIN),
    error(
        "order.after_start",
        r"(?P<what>(?:visible|physical|virtual|logical) devices|(?:inter|intra) op parallelism|soft device placement|device policy|synchronous execution)[^\n]{0,40}cannot be (?:modified|changed|set) after"
        r"|(?:cannot|can't|can not|could not) (?:set|change|modify|update|swap|configure|resize|enable|switch)[^\n]{0,80}(?:after|once|already)[^\n]{0,60}(?:initiali[sz]ed|initiali[sz]ation|started|launched|created|been set|running)"
        r"|(?:must|should|needs? to|has to) be (?P<did>called|set|updated|configured|enabled|done|initiali[sz]ed|imported)[^\n]{0,40}(?:at (?:program )?start ?up|before (?:any|the|calling|creating|importing|initiali[sz]\w+|backends?|jax|torch|tensorflow|cuda|other)[^\n]{0,60})"
        r"|(?:cannot|can't) be (?:modified|changed|set|called|used|updated) (?:after|once)[^\n]{0,60}(?:initiali[sz]\w+|started|been set|created)"
        r"|already initiali[sz]ed[^\n]{0,40}cannot be changed|swap an already initiali[sz]ed allocator",
        "cannot be", "can't be", "at program start", "at startup", "before any", "before the", "before back", "before calling", "before creating", "before importing", "before initial", "before jax", "before torch",
        "before tensorflow", "before cuda", "before other", "cannot set", "can't set", "cannot change", "can't change", "cannot modify", "could not set", "can't swap", "cannot update", "cannot configure", "cannot resize", "cannot enable", "cannot switch",
        "already initialized",
        covers=_PLAIN,
    ),
    error("order.growth", r"memory growth cannot differ|cannot set memory growth on device when virtual devices|cannot (?:set|configure)[^\n]{0,40}virtual devices? [^\n]{0,60}memory growth",
          "memory growth", covers=_PLAIN),
    error(
        "order.twice",
        r"context has already been set|(?:initiali[sz]e|initiali[sz]ing|called|call) [^\n]{0,60}\btwice\b|(?:should|must|can|may) only be (?:called|initiali[sz]ed|set|created|used) once"
        r"|\w(?:error|exception)\W{1,3}[^\n]{0,80}?(?P<what>[\w.]{3,60}) (?:has|have|was|is) already (?:been )?(?:initiali[sz]ed|started|running|set ?up)\b|has already been called(?: on this \w+)? since",
        "already been set", "twice", "only be called once", "only be initialized once", "only be set once", "only be created once", "only be used once", "has already", "have already", "was already", "is already", "already been init",
        covers=_PLAIN,
    ),
    error(
        "order.not_yet",
        r"(?P<what>[\w. ]{3,60}) (?:has|have|is|was)(?:n't| not) (?:yet )?(?:been )?(?:initiali[sz]ed|started|set ?up)[^\n]{0,20}(?:please|;|,|use|call|did you|make sure)[^\n]{0,60}\b(?:init\w*|start\w*|set ?up)"
        r"|(?:must|should|need to|please) (?:first )?(?:call|run|use) [`'\"]?[\w.]*init\w*[^\n]{0,20}(?:first|before)|called before [`'\"]?[\w.]*init|\b[\w.]*init\w*(?:\(\))? (?:must|should|has to|needs to) be called (?:first|before)",
        "not been init", "not been start", "is not init", "not yet init", "hasn't been", "not been set up", "isn't init", "must call", "should call", "need to call", "must first call", "please call", "called before", "called first",
        covers=_PLAIN,
    ),
    error("order.deleted", r"(?:array|buffer) has been (?:deleted|donated)|(?:deleted|donated) or donated|buffer [^\n]{0,40}(?:was|been) donated", "has been deleted", "has been donated", "or donated", "been donated", "was donated", covers=_PLAIN),
    error("order.main_guard", r"before the current process has finished its\s*(?:bootstrapping phase)?|an attempt has been made to start a new process", "current process has finished", "attempt has been made to start", covers=_PLAIN),
)  # fmt: skip
