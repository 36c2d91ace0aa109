"""What a report says, draws, embeds and offers for download."""

import html.parser
import json
import re

DRAWN = {
    *("class", "cx", "cy", "d", "height", "points", "src", "style", "transform", "width"),
    *("x", "x1", "x2", "y", "y1", "y2"),
}


class Page(html.parser.HTMLParser):
    """The tables of a report as its downloads have them, its visible text, and its drawings."""

    def __init__(self):
        super().__init__()
        self.tables, self.text, self.drawn, self.numbers = [], [], [], {}
        self.inside = None  # a script or a style, which nobody sees, or the number of a note
        self.cell = None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in ("script", "style"):
            self.inside = given.get("id", tag)
        elif tag == "table":
            is_download = "data" in (given.get("class") or "").split()
            self.rows = []
            if is_download:
                self.tables.append(self.rows)
        elif tag == "tr":
            self.rows.append([])
        elif tag == "sup":  # the number of a note, which is in no download
            self.inside = tag
        elif tag in ("td", "th", "caption"):
            self.cell = [given.get("data-v"), ""]
            if tag == "caption":
                self.rows.append([])
            self.rows[-1].append(self.cell)
        drawn = {name: value for name, value in attributes if name in DRAWN}
        if drawn:
            self.drawn.append(f"{tag} {drawn}")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "sup"):
            self.inside = None
        elif tag in ("td", "th", "caption"):
            self.cell = None

    def handle_data(self, text):
        if self.inside == "data":
            self.numbers = json.loads(text)
        elif self.inside is None and text.strip():
            self.text.append(" ".join(text.split()))
            if self.cell is not None:
                self.cell[1] += text


def page_parts(page):
    """Return a report's text, numbers, drawings and downloads; tables by their captions."""
    parsed = Page()
    parsed.feed(page)
    tables = [
        [[text.strip() if value is None else value for value, text in row] for row in table]
        for table in parsed.tables
    ]
    curves = [
        [name, *row]
        for name, curve in parsed.numbers.get("curves", {}).items()
        for line in [curve["band"] or curve]
        for row in zip(
            *(line[key] for key in ("fpr", "tpr", "low", "high") if key in line), strict=True
        )
    ]
    page = re.sub(r"<dt>Date</dt><dd>.*?</dd>\n", "", page)  # which is another one tomorrow
    return {
        "text": re.sub(r"\nDate\n.*", "", "\n".join(parsed.text)),
        "numbers": parsed.numbers,
        "drawn": "\n".join(parsed.drawn),
        "tables.csv": {caption: rows for [[caption], *rows] in tables},
        "curves.csv": curves,
        "source": page,
    }
