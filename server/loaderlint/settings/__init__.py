"""What users set, in files and flags."""
