"""Draws stored numbers of a paper as SVG bars, the paper's printed number above ours.

The bytes depend only on the numbers, so that a test can compare a stored figure with the results.
"""
import dataclasses
import html
import math

WIDTH, LABEL, VALUE = 640, 190, 90
BAR, GAP, TOP = 15, 10, 56
STYLE = """
  text { font: 13px sans-serif; fill: #23292d }
  .title { font-weight: bold }
  .paper { fill: #b9c0c6 }
  .here { fill: #0072b2 }
  .spread { stroke: #23292d; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9eb } .paper { fill: #6b7378 } .here { fill: #58a9dd } .spread { stroke: #e6e9eb }
  }"""


@dataclasses.dataclass
class Figure:
    name: str       # of the file, without .svg
    title: str      # with the unit
    claim: str
    quantity: str
    bars: dict      # label -> cell
    logarithmic: bool = False


def _shown(value):
    return f"{value:.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def draw(figure, numbers):
    """Returns the SVG. `numbers` maps a cell to (paper or None, ours, low or None, high or None)."""
    found = [(label, numbers[cell]) for label, cell in figure.bars.items()]
    values = [value for _, row in found for value in row if value is not None]
    least = min(value for value in values if value > 0) / 2 if figure.logarithmic else 0
    most = max(values)

    def place(value):
        room = WIDTH - LABEL - VALUE
        if not figure.logarithmic:
            return LABEL + room * max(value, 0) / most
        return LABEL + room * math.log(max(value, least) / least) / math.log(most / least)

    height = TOP + len(found) * (2 * BAR + GAP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'width="{WIDTH}" role="img">',
             f"<title>{html.escape(figure.title)}</title>", f"<style>{STYLE}\n</style>",
             f'<text class="title" x="0" y="16">{html.escape(figure.title)}</text>',
             '<rect class="paper" x="0" y="28" width="12" height="12"/>'
             '<text x="18" y="39">paper</text>',
             '<rect class="here" x="80" y="28" width="12" height="12"/>'
             '<text x="98" y="39">here</text>',
             f'<text x="160" y="39">{"logarithmic axis" if figure.logarithmic else ""}</text>']
    for index, (label, (paper, ours, low, high)) in enumerate(found):
        y = TOP + index * (2 * BAR + GAP)
        lines.append(f'<text x="{LABEL - 8}" y="{y + BAR + 4}" text-anchor="end">'
                     f"{html.escape(label)}</text>")
        for kind, value, top in (("paper", paper, y), ("here", ours, y + BAR)):
            if value is None:
                continue
            end = place(value)
            lines.append(f'<rect class="{kind}" x="{LABEL}" y="{top}" '
                         f'width="{max(end - LABEL, 1):.1f}" height="{BAR - 1}"/>')
            right = max(end, place(high)) if kind == "here" and high is not None else end
            lines.append(f'<text x="{right + 5:.1f}" y="{top + BAR - 1}">{_shown(value)}</text>')
        if low is not None and high is not None and low != high:
            lines.append(f'<path class="spread" d="M{place(low):.1f} {y + BAR + 5.5} '
                         f'H{place(high):.1f}"/>')
    return "\n".join(lines + ["</svg>", ""])
