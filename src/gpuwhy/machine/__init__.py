"""The one seam to a computer: questions and answers, bounded processes, redaction.

Answers are as the machine gives them. What is passed on goes through redact.py, in one place.
"""
