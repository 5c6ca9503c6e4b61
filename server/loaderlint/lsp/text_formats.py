"""Converts reports to Markdown, and Markdown to plain text, depending on what the client can show. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: Text in backticks, and a word with characters that have a meaning in Markdown.
_CODE_OR_WORD = re.compile(r"`[^`]*`|[^\s`]*[_*<~\\][^\s`]*")
_FENCE = re.compile(r" *(`{3,})")
_HEADING = re.compile(r"#+ ")
_LINK = re.compile(r"!?\[([^\]]*)\]\(([^)]*)\)")


def as_markdown(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a report. Lines that belong to a line are indented below it: a line with others below it becomes a
    heading, and those become lists."""
    known = [*lines]
    in_list = False
    for line, following in zip(known, [*known[1:], ""], strict=True):
        depth = (len(line) - len(line.lstrip())) // 2
        text = with_code(line.strip().removeprefix("= "))
        if in_list and text and not depth:
            yield ""  # otherwise it would belong to the last item
        in_list = depth > 0
        if depth:
            yield f"{'  ' * (depth - 1)}- {text}"
        elif following.startswith(" "):
            yield from (f"## {text}", "")
        else:
            yield text


def code_block(source: str) -> Iterator[str]:
    """Python code, unchanged."""
    fence = "````" if "```" in source else "```"
    yield from (f"{fence}python", source, fence)


def with_code(text: str) -> str:
    """The text with backticks around names such as `__getitem__`, which Markdown would read as emphasis."""
    return _CODE_OR_WORD.sub(lambda found: found[0] if found[0].startswith("`") else _coded(found[0]), text)


def _coded(word: str) -> str:
    start = len(word) - len(word.lstrip("(["))
    end = len(word.rstrip(".,;:"))
    if word.endswith(")") and word.count("(", start) < word.count(")"):
        end = len(word) - 1
    return f"{word[:start]}`{word[start:end]}`{word[end:]}"


def plain(markdown: str) -> str:
    """Markdown without its marks, for clients that show plain text: code is indented, and a link keeps its address."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        opening = _FENCE.match(line)
        if opening and (not fence or line.strip() == fence):
            fence = "" if fence else opening[1]
        elif fence:
            lines.append(f"    {line}".rstrip())
        elif line.strip() != "---":
            lines.append(_unmarked(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _unmarked(line: str) -> str:
    line = _HEADING.sub("", line, count=1) if line.startswith("#") else line
    line = _LINK.sub(lambda link: f"{link[1]} ({link[2]})", line)
    parts = line.split("`")
    if len(parts) % 2:  # text in backticks does not change
        parts[::2] = [part.replace("**", "") for part in parts[::2]]
        return "".join(parts)
    return line.replace("**", "")
