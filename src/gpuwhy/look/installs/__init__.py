"""What is wrong among the installed packages: damage, conflicts, contradictions, shadows, start."""
