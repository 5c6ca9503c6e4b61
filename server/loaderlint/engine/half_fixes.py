"""Fixes that mend one of several faults which keep the same workers from starting.

A loader whose workers are spawned starts none while its script has no guard, and none while it sends a lambda. Either
fix alone is worth nothing, so it is only safe if the other fault has a safe fix too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from loaderlint.findings.finding import Finding, Fix, Severity


def with_half_fixes_unsafe(findings: Sequence[Finding], stopped: Mapping[Finding, frozenset[int]]) -> list[Finding]:
    """The findings. `stopped`: for each fault that keeps workers from starting, the indices of the loaders that this
    concerns. Its fixes are unsafe where another rule proves that the workers of such a loader cannot start, and has no
    safe fix for that."""
    lasting = {one: loaders for one, loaders in stopped.items() if _lasts(one)}
    return [_judged(one, stopped[one], lasting) if one in stopped else one for one in findings]


def _lasts(finding: Finding) -> bool:
    """Whether a fault is certain and no safe fix ends it."""
    is_certain = finding.certainty == "proven" and finding.severity is not Severity.HINT
    return is_certain and not any(fix.safety == "safe" for fix in finding.fixes)


def _judged(finding: Finding, loaders: frozenset[int], lasting: Mapping[Finding, frozenset[int]]) -> Finding:
    other = next(_others(finding, loaders, lasting), None)
    if other is None:
        return finding
    fixes = tuple(_unsafe(fix, other) if fix.safety == "safe" else fix for fix in finding.fixes)
    return finding if fixes == finding.fixes else replace(finding, fixes=fixes)


def _others(finding: Finding, loaders: frozenset[int], lasting: Mapping[Finding, frozenset[int]]) -> Iterator[Finding]:
    """The faults of other rules that keep the workers of these loaders from starting. (The rule itself knows about its
    own.)"""
    return (other for other, stops in lasting.items() if other.rule != finding.rule and stops & loaders)


def _unsafe(fix: Fix, other: Finding) -> Fix:
    return replace(fix, title=f"{fix.title}; {other.rule} still keeps the workers from starting", safety="unsafe")
