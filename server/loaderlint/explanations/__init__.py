"""What is shown besides findings: what a line means for workers, and what the workers of each loader run."""
