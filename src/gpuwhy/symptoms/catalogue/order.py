"""Order: what is not allowed at this moment, though it would be at another."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error
from gpuwhy.rooms.text.fragments import ORDER_COVERS

SIGNATURES: tuple[Signature, ...] = (
    error(
        "order.twice",
        r"context has already been set|(?:initiali[sz]e|initiali[sz]ing|called|call) [^\n]{0,60}\btwice\b"
        r"|(?:should|must|can|may) only be (?:called|initiali[sz]ed|set|created|used) once"
        r"|\w(?:error|exception)\W{1,3}[^\n]{0,80}?(?P<what>[\w.]{3,60}) (?:has|have|was"
        r"|is) already (?:been )?(?:initiali[sz]ed|started|running|set ?up)\b"
        r"|has already been called(?: on this \w+)? since",
        "already been set", "twice", "only be called once", "only be initialized once", "only be set once",
        "only be created once", "only be used once", "has already", "have already", "was already", "is already",
        "already been init",
        covers=ORDER_COVERS,
    ),
    error("order.deleted", r"(?:array|buffer) has been (?:deleted|donated)|(?:deleted|donated) or donated"
          r"|buffer [^\n]{0,40}(?:was|been) donated", "has been deleted", "has been donated", "or donated",
          "been donated", "was donated", covers=ORDER_COVERS),
    error("order.main_guard", r"before the current process has finished its\s*(?:bootstrapping phase)?"
          r"|an attempt has been made to start a new process", "current process has finished",
          "attempt has been made to start", covers=ORDER_COVERS),
)  # fmt: skip
