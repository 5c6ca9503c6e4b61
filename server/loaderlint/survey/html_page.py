"""A survey as one HTML page that needs no network: the charts are SVG, drawn when the page is written.

Colours are the page's CSS variables, also inside the charts, so that both follow the reader's light or dark theme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from loaderlint import __version__
from loaderlint.survey.results import READINGS
from loaderlint.survey.summarise import VERSIONS, RuleSpread, Share, Summary
from loaderlint.survey.wording import FAILURE_NAMES, READING_NAMES, numpy_bug, percent, what_was_read

if TYPE_CHECKING:
    import altair

_PACKAGES = {"altair": "altair", "jinja2": "jinja2", "vl_convert": "vl-convert-python"}
_COLORS = ("var(--declared)", "var(--old)")
_WIDTH = 560
_LETTER = 7.5
"""The average width in pixels of a letter in a font of 12 pixels, at most."""
_STEP, _BAR = 15, 26
"""The height of one row of a chart, in pixels."""


def missing() -> list[str]:
    """The packages of the extra `survey` that are not installed."""
    return [package for module, package in _PACKAGES.items() if find_spec(module) is None]


def render(summary: Summary) -> str:
    """The whole page as HTML. Needs the packages of the extra `survey`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("loaderlint", "survey"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"percent": percent, "reading_names": READING_NAMES, "failure_names": FAILURE_NAMES}
    charts = {name: Markup(_svg(chart)) for name, chart in _charts(summary)}
    return environment.get_template("page.html.j2").render(
        summary=summary,
        rules=summary.counted_rules,
        version=__version__,
        sentences=list(what_was_read(summary)),
        numpy=list(numpy_bug(summary)),
        readings=READINGS,
        charts=charts,
    )


def _charts(summary: Summary) -> Iterator[tuple[str, altair.LayerChart]]:
    yield "versions", _bars([(words, summary.versions[answer]) for answer, words in VERSIONS])
    bug = [(reading, found) for reading, found in summary.numpy.items() if found.repositories.of]
    if bug:
        rows = [
            _row(what, READING_NAMES[reading], share)
            for reading, found in bug
            for what, share in (("repositories", found.repositories), ("datasets", found.datasets))
        ]
        yield "numpy", _shares(rows, ["repositories", "datasets"])
    for what in ("repositories", "datasets"):
        rows, names = _by_rule(summary.counted_rules, what)
        if rows:  # a rule about a script affects no dataset
            yield what, _shares(rows, names)


def _by_rule(rules: Sequence[RuleSpread], what: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a chart of rules, and the rules in their order, the most widespread first."""
    shown = [rule for rule in rules if any(getattr(rule.of(reading), what).count for reading in READINGS)]
    shown.sort(key=lambda rule: -max(getattr(rule.of(reading), what).count for reading in READINGS))
    rows = [
        _row(rule.name, READING_NAMES[reading], getattr(rule.of(reading), what))
        for rule in shown
        for reading in READINGS
    ]
    return rows, [rule.name for rule in shown]


def _row(name: str, reading: str, share: Share) -> dict[str, Any]:
    return {"name": name, "reading": reading, "share": share.share, "low": share.low, "high": share.high}


def _shares(rows: Iterable[dict[str, Any]], order: Sequence[str]) -> altair.LayerChart:
    """A chart with a dot per share and reading, on the line of its interval."""
    import altair as alt

    names = list(READING_NAMES.values())
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        y=alt.Y("name:N", sort=list(order), title=None, axis=_names(order)),
        yOffset=alt.YOffset("reading:N", sort=names),
        color=alt.Color(
            "reading:N",
            scale=alt.Scale(domain=names, range=list(_COLORS)),
            legend=alt.Legend(title=None, orient="top", symbolType="circle", symbolOpacity=1),
        ),
    )
    axis = alt.Axis(format=".0%", title=None, orient="top", tickCount=6)
    intervals = base.mark_rule(strokeWidth=3, opacity=0.45, strokeCap="round").encode(
        x=alt.X("low:Q", axis=axis, scale=alt.Scale(zero=True)), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(x="share:Q")
    chart: altair.LayerChart = (intervals + dots).properties(width=_WIDTH, height=alt.Step(_STEP))
    return chart


def _bars(rows: Sequence[tuple[str, int]]) -> altair.LayerChart:
    import altair as alt

    values = [{"name": name, "count": count} for name, count in rows]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("name:N", sort=[name for name, _ in rows], title=None, axis=_names([name for name, _ in rows])),
        x=alt.X("count:Q", axis=None),
    )
    bars = base.mark_bar(color="var(--declared)", cornerRadiusEnd=3)
    labels = base.mark_text(align="left", dx=6, color="var(--ink)").encode(text=alt.Text("count:Q", format=","))
    chart: altair.LayerChart = (bars + labels).properties(width=_WIDTH, height=alt.Step(_BAR))
    return chart


def _names(names: Sequence[str]) -> altair.Axis:
    """An axis with room for the names in any font of a reader's system."""
    import altair as alt

    return alt.Axis(minExtent=_LETTER * max(map(len, names)))


def _svg(chart: altair.LayerChart) -> str:
    import vl_convert

    font = "system-ui, sans-serif"
    styled = (
        chart.configure(background="transparent", font=font)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor="var(--ink)",
            labelFontSize=12,
            labelLimit=0,
            gridColor="var(--line)",
            domainColor="var(--line)",
            tickColor="var(--line)",
        )
        .configure_legend(labelColor="var(--ink)", labelFontSize=12, labelLimit=320)
        .configure_scale(bandPaddingInner=0.35)
    )
    return str(vl_convert.vegalite_to_svg(styled.to_dict()))
