"""Whether a text may assign an attribute, decided without parsing it.

Most methods that mention an attribute only read it, and most reads look like reads: `self.x(...)`, `self.x[...]`,
`self.x == 1`, `f(self.x)`, `return self.x`. The facts of a method with nothing else need not be computed. Everything
that does not look like a read counts as a possible assignment.
"""

from __future__ import annotations

import re

#: The text after an attribute that is assigned, whatever is before it.
_ASSIGNED = re.compile(r"[ \t\f]*(?:=(?!=)|(?:\*\*|//|<<|>>|[-+*/%@&|^])=)")
#: The text after an attribute that is read: a longer name, a call, an index, an attribute, an operator, a keyword.
_READ = re.compile(r"\w|[ \t\f]*(?:[(\[.;}]|[-+*/%@&|^<>!=]|(?:if|and|or|is|not|else|for|as|async)\b)")
#: Before it: the arguments of a call or an index, which the line has not closed.
_INSIDE = re.compile(r"[\w)\]](?<!\bfor)(?<!\bas)(?<!\bin)(?<!\bwith)[(\[][^()\[\]]*\Z")
_CLOSED = re.compile(r"\([^()\[\]]*\)|\[[^()\[\]]*\]")
#: Before it: text that makes the rest of the line a value.
_VALUE = re.compile(
    r"[^()\[\]:;]*\b(?:return|yield|if|elif|while|assert|raise|not|and|or|is|lambda|in)\b[^()\[\]:;]*\Z"
)
#: A value: the last of its line, with no assignment after it.
_GIVEN = re.compile(r"=[ \t]*[\w.]*\Z")
_REST = re.compile(r"[^\r\n=\\]*(?:[\r\n]|\Z)")
#: Before it: text that makes it a target, wherever it is.
_BINDS = re.compile(r"\b(?:for|as)\b(?!.*\bin\b)")
#: The number of characters before an attribute, on its line, that are examined.
_LONG = 2000


def may_assign(text: str, name: str) -> bool:
    """Whether a text may assign attribute `name` of something: `.name` is at the place of a possible target."""
    wanted = f".{name}"
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if _ASSIGNED.match(text, end) or (not _READ.match(text, end) and _may_be_target(text, at, end)):
            return True
        at = text.find(wanted, end)
    return False


def _may_be_target(text: str, at: int, end: int) -> bool:
    """Whether an attribute between these offsets may be a target, judging by the text around it on its line."""
    start = max(text.rfind("\n", at - _LONG, at), text.rfind("\r", at - _LONG, at)) + 1
    if not start and at > _LONG:  # read again for each attribute on it
        return True
    before = text[start:at]
    if _BINDS.search(before):
        return True
    if _INSIDE.search(before) or _VALUE.match(before) or (_GIVEN.search(before) and _REST.match(text, end)):
        return False
    if '"' in before or "'" in before:  # brackets in a string do not count
        return True
    return _INSIDE.search(_CLOSED.sub("_", before)) is None
