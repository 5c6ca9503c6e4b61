"""What is shown besides findings: what a line means to workers, and what the workers of each loader run."""
