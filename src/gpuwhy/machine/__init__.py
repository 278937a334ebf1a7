"""The one seam to a computer: questions and answers, bounded processes, redaction.

Answers are as the machine gives them. What is passed on goes through redact.py, in one place.
"""

NOTES = "GPUWHY_NOTES"
"""Set for a command whose steps are told line by line on standard error."""
NOTE = "… "
"""How such a line begins."""
FORM = "GPUWHY_FORM"
"""Set to "both" for a command that prints {"text", "values"}: its plain text and its contract."""
