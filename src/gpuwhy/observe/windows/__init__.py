"""What is observed on Windows where it differs from Linux: one file per subject, chosen by the system."""
