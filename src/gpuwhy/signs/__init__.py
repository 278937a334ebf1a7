"""Facts → findings: one module per mechanism; an Unknown costs the one sign that needs it."""
