"""The chart: the cost of each linter on the same files, and its growth with the size of a project. The grey and the
green are readable on light and dark pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchmarks.kept import Part

if TYPE_CHECKING:
    import altair

_INK, _OURS, _OTHERS = "#808080", "#2e9e5b", "#8a93a6"
_WIDTH = 420


def render(parts: Mapping[str, Part]) -> str:
    """The chart as SVG. Needs the packages of the extra `survey`."""
    import altair as alt
    import vl_convert

    charts = [
        chart
        for chart in (
            _bars(parts, "loading", "Cold check of code that loads data, CPU seconds"),
            _growth(parts),
        )
        if chart is not None
    ]
    whole = (
        alt.vconcat(*charts)
        .configure(background="transparent", font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(labelColor=_INK, titleColor=_INK, gridColor=_INK, gridOpacity=0.25, domainColor=_INK)
        .configure_title(color=_INK, anchor="start")
    )
    return str(vl_convert.vegalite_to_svg(whole.to_dict()))


def _bars(parts: Mapping[str, Part], name: str, title: str) -> altair.LayerChart | None:
    import altair as alt

    if name not in parts:
        return None
    rows = [
        {"linter": found[1], "seconds": one.median, "label": f"{one.median:.3g} s"}
        for one in parts[name].measures.values()
        if (found := re.fullmatch(r"(.+): CPU", one.name))
    ]
    lowest, highest = min(rows, key=_seconds), max(rows, key=_seconds)
    domain = [_seconds(lowest) / 2, _seconds(highest) * 3]  # room for the last label
    base = alt.Chart(alt.InlineData(values=rows), title=title).encode(
        y=alt.Y("linter:N", sort=alt.EncodingSortField("seconds"), title=None, axis=alt.Axis(labelLimit=200)),
        x=alt.X("seconds:Q", scale=alt.Scale(type="log", domain=domain, nice=False), title="logarithmic"),
    )
    bars = base.mark_bar(cornerRadiusEnd=3).encode(
        x2=alt.datum(domain[0]),
        color=alt.condition("datum.linter == 'loaderlint'", alt.value(_OURS), alt.value(_OTHERS)),
    )
    labels = base.mark_text(align="left", dx=5, color=_INK).encode(text="label:N")
    chart: altair.LayerChart = (bars + labels).properties(width=_WIDTH, height=alt.Step(24))
    return chart


def _seconds(row: Mapping[str, object]) -> float:
    return float(str(row["seconds"]))


def _growth(parts: Mapping[str, Part]) -> altair.HConcatChart | None:
    """A curve of CPU time and one of memory, with their lines."""
    import altair as alt

    if "growth" not in parts:
        return None
    curves = [_curve(parts["growth"], "CPU", "CPU seconds"), _curve(parts["growth"], "memory", "memory, MiB")]
    return alt.hconcat(*curves)


def _curve(part: Part, what: str, title: str) -> altair.LayerChart:
    import altair as alt

    points = [
        {"files": int(found[1].replace(",", "")), "value": one.median}
        for one in part.measures.values()
        if (found := re.fullmatch(rf"{what}, ([\d,]+) files", one.name))
    ]
    nothing, first, last = points[0]["value"], points[1], points[-1]
    slope = (first["value"] - nothing) / first["files"]
    line = [{"files": 0, "value": nothing}, {"files": last["files"], "value": nothing + slope * last["files"]}]
    axes = {"x": alt.X("files:Q", title="files"), "y": alt.Y("value:Q", title=None)}
    straight = alt.Chart(alt.InlineData(values=line), title=title).mark_line(color=_OTHERS, strokeDash=[4, 4])
    curve = alt.Chart(alt.InlineData(values=points)).mark_line(color=_OURS, point=alt.OverlayMarkDef(color=_OURS))
    chart: altair.LayerChart = (straight.encode(**axes) + curve.encode(**axes)).properties(
        width=_WIDTH / 2 - 30, height=160
    )
    return chart
