"""What is told beside findings: what a line is to workers, and what the workers of each loader run."""
