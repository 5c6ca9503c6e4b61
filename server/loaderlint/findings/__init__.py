"""Findings, and what suppresses them: comments and baselines."""
