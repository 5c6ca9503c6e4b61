"""What to do about state that cannot be sent to workers, in words."""

from __future__ import annotations

from loaderlint.knowledge.handles import OPENERS
from loaderlint.knowledge.pickling import THREAD_LOCKS
from loaderlint.rules.unpicklable_state.unpicklable_payloads import UnpicklablePayload


def with_article(word: str) -> str:
    """A word with its article: 'an HDF5 file', 'a lock'."""
    spelled = word[:2].isupper()  # 'an HDF5 file', 'an SSL context'
    vowel = word[0] in "AEFHILMNORSX" if spelled else word[0] in "aeiouAEIOU"
    return f"{'an' if vowel else 'a'} {word}"


def advice(one: UnpicklablePayload) -> str:
    """What to do instead of sending it."""
    match one.kind.word:
        case "view of a dictionary" | "generator" | "iterator of matches" | "CSV reader" | "directory iterator":
            return "make it a list"
        case "module":
            return "import it where it is used"
        case "manager":
            return "keep only the lists and dictionaries that it makes"
    if one.used_unseen:
        return "open it in each process, or leave it out in `__getstate__` if no worker uses it"
    if one.name in OPENERS:
        return "no worker uses it: keep it in a local variable, or leave it out in `__getstate__`"
    if one.is_on_gpu:
        return "keep it on the CPU"
    if one.name in THREAD_LOCKS:
        return "it locks nothing between workers: remove it, or leave it out in `__getstate__`"
    return "make it in the worker, or leave it out in `__getstate__`"
