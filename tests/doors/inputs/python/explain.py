"""gpuwhy.explain(text): causes with evidence and fixes, and the form that a notebook shows."""

import gpuwhy

report = gpuwhy.explain(
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    log_only=True,
)
print(report.status, "|", report.headline)
for cause in report.causes:
    print(cause.id, cause.title, [fix.command for fix in cause.fixes], sep=" | ")
print(hasattr(report, "_repr_html_"))
