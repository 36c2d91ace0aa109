"""Tables as text: how cells are separated, where they begin, and which numbers they spell."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import itertools
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dmfroc._kit.options import is_one_of
from dmfroc._kit.remarks import warn
from dmfroc.inputs.messages import listing, repeated

_HEAD = 1 << 20  # bytes from which the layout is found
_MOST_ROWS = 1000  # of these bytes
_MOST_LINES = 50  # before the header
_SEPARATORS = (",", ";", "\t", "|", " ")
_ORANGE = {"discrete", "continuous", "string", "time", "d", "c", "s", "t"}
_ORANGE_ROLES = {"", "class", "meta", "ignore", "weight", "m", "i", "w", "c"}
_GROUPS = ".,' \u00a0\u202f\u2019_"  # what separates thousands
_FRACTION = r"[-+]?(\d+[.]0*[1-9]\d*|\d(\.\d+)?[eE][-+]?\d+)"
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)
"""Texts that stand for a missing value, unless a class is called so; pyarrow has the same."""
_OTHER_KINDS = ((b"PAR1", "Parquet"), (b"PK\x03\x04", "Excel or zip"), (b"\xd0\xcf\x11", "Excel"))
_WESTERN = (
    *("äöüß", "áéíóúüñ", "àâæçéèêëîïôûùüÿœ", "áâãàçéêíóôõú", "àèéìíîòóùú", "åäöæøéü", "áéíóúýðþæö"),
)  # German, Spanish, French, Portuguese, Italian, Nordic languages, Icelandic
_TURKISH = "çğ\u0131i\u0307öşüâîû"
_CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýžľĺŕôä", "áéíóöőúüű", "ăâîșşțţ", "čćđšž")
# Encodings and the scripts or, of Latin ones, the letters of a language. Common ones come first.
_LEGACY = (
    *(("cp1252", letters) for letters in _WESTERN[:-1]),
    ("cp1254", _TURKISH),
    *(("cp1250", letters) for letters in _CENTRAL),
    ("cp1252", _WESTERN[-1]),
    *((name, "CJK UNIFIED,HIRAGANA,KATAKANA") for name in ("cp932", "euc_jp")),
    ("cp949", "HANGUL SYLLABLE"),
    *((name, "CJK UNIFIED") for name in ("gb18030", "big5")),
    *((name, "CYRILLIC") for name in ("cp1251", "koi8_r")),
    ("cp1253", "GREEK"),
    *(("iso8859_2", letters) for letters in _CENTRAL),
    *((name, letters) for name in ("mac_roman", "cp850") for letters in _WESTERN),
)
_COMMON = {"gb18030": "gb2312", "big5": "big5"}  # where common characters are, of all that exist
_MARKS_IN_TEXT = frozenset("\u2018\u2019\u201c\u201d\u2013\u2026\u30fc\u00bf\u00a1")


class Format(NamedTuple):
    """What the user says about a file of text; None: it is detected."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None


class Text(NamedTuple):
    """The columns of a file as a table of pyarrow, and how they were read if that is unusual."""

    table: Any
    note: str | None


def checked_format(separator: Any, decimal: Any, encoding: Any) -> Format:
    """Return what the user says about a file of text."""
    separator = "\t" if is_one_of(separator, ("tab", "\\t")) else separator
    if separator is not None and not (isinstance(separator, str) and len(separator) == 1):
        raise ValueError(
            f"separator= must be one character, or 'tab', but it is {separator!r}: leave it out to "
            "detect it"
        )
    if decimal is not None and not is_one_of(decimal, (".", ",")):
        raise ValueError(f"decimal= must be '.' or ',', but it is {decimal!r}")
    if separator is not None and separator == decimal:
        raise ValueError(f"separator= and decimal= cannot both be {decimal!r}")
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except (LookupError, TypeError, ValueError):
            raise ValueError(
                f"encoding= is {encoding!r}, which is unknown: try 'utf-8', 'utf-16' or 'cp1252'"
            ) from None
    return Format(separator, decimal, encoding)


def read_delimited(
    file: Path, given: Format, texts: Collection[str], numbers: Collection[str] | None
) -> Text:
    """Read a file: some columns as text, and others as numbers if that is what they are.

    Parameters
    ----------
    file
        Perhaps compressed by gzip, whatever its name.
    given
        What the user says about the file.
    texts
        Columns that stay text; empty cells are empty texts.
    numbers
        The others that are used; None for all. The header is the row that has all these names.
    """
    import pyarrow
    import pyarrow.compute as pc

    wanted = {*texts, *(numbers or ())}
    layout = _layout(file, given, wanted)
    values = [x for x in layout.names if x not in wanted and re.fullmatch(_FRACTION, x)]
    lacks_some = not wanted.issubset(layout.names)
    if values and (lacks_some or 2 * len(values) >= len(layout.names)):
        raise ValueError(
            f"the first line holds numbers, {listing(values)}, as in a file without a header: "
            "write a line with the names of the columns above it, such as y,p_a,p_b"
        )
    if given.separator is None and len(layout.names) == 1 and lacks_some:
        raise ValueError(
            f"no character separates the names in the line {layout.names[0][:80]!r}: say which one "
            "does by separator="
        )
    read = _read_spaced if layout.has_spaces else _read
    columns = read(file, layout, given)
    if columns is None:  # a byte that is not UTF-8, after the head
        with opened(file, layout.compression is not None) as stream:
            layout = layout._replace(encoding=guessed_encoding(stream.read()))
        columns = read(file, layout, given) or []
    named = list(zip(layout.names, columns, strict=True))[layout.has_row_names :]
    named = [(name, x) for name, x in named if name or pc.any(pc.not_equal(x, "")).as_py()]
    if twice := repeated([name for name, _ in named]):
        raise ValueError(f"duplicate column names: {listing(twice)}; rename them")
    table, decimals = dict(named), {}
    for name, column in named:
        if name not in texts:
            is_used = numbers is None or name in numbers
            table[name], decimals[name] = numbers_of(name, column, given.decimal, is_used=is_used)
    if given.decimal is None:
        _check_decimals(table, decimals)
    return Text(pyarrow.table(table), _note(file, layout, "," in decimals.values()))


# Layout


class _Layout(NamedTuple):
    """How a file is laid out."""

    separator: str
    names: list[str]  # of all columns
    line: int  # in which the header begins
    n_lines: int  # up to the header, and with it
    has_row_names: bool  # in a first column that the header does not name
    has_spaces: bool  # around separators
    fit: tuple[float, ...]  # how well the separator fits
    encoding: str = ""
    compression: str | None = None


def _layout(file: Path, given: Format, wanted: set[str]) -> _Layout:
    with file.open("rb") as stream:
        start = stream.read(8)
    for mark, kind in _OTHER_KINDS:
        if start.startswith(mark):
            raise ValueError(f"it is {kind}, not text: give it the suffix of its kind, or save CSV")
    compression = "gzip" if start.startswith(b"\x1f\x8b") else None
    with opened(file, compression is not None) as stream:
        head = stream.read(_HEAD)
    decoder, encoding = codecs.getincrementaldecoder, given.encoding or json.detect_encoding(head)
    try:
        text = decoder(encoding)().decode(head)
    except UnicodeError as error:
        if given.encoding or encoding != "utf-8":
            raise ValueError(f"{error}; say how it is encoded by encoding=") from error
        encoding = guessed_encoding(head)
        text = decoder(encoding)().decode(head)
    text = text.removeprefix("\ufeff")
    if len(head) == _HEAD:  # the last line is not whole
        text = text[: text.rfind("\n") + 1] or text
    if not text.strip():
        raise ValueError("it is empty")
    named = re.match(r'"?sep=(.)"?\r?\n', text, re.IGNORECASE)  # a line of Excel's
    is_tsv = not {".tsv", ".tab"}.isdisjoint(suffix.lower() for suffix in file.suffixes)
    known = given.separator or (named and named[1])
    candidates = [known] if known else sorted(_SEPARATORS, key=lambda x: is_tsv and x != "\t")
    layouts = [_separated(text, x, wanted, 1 if named else 0) for x in candidates]
    best = max(layouts, key=lambda layout: layout.fit)  # of equals the first
    return best._replace(encoding=encoding, compression=compression)


def opened(file: Path, is_compressed: bool) -> Any:
    """Open a file, perhaps compressed by gzip, for reading."""
    return gzip.open(file) if is_compressed else file.open("rb")


def _separated(text: str, separator: str, wanted: set[str], n_before: int) -> _Layout:
    """Return the layout with one separator; the header is the first row with most of the names."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    rows = []
    with contextlib.suppress(csv.Error):  # a cell of more than 131,072 characters
        for first, *others in filter(None, itertools.islice(reader, n_before, _MOST_ROWS)):
            cells = [first.removeprefix("#"), *others]
            rows.append((cells, not first.startswith("#"), reader.line_num))
    rows = rows or [([], False, 0)]
    # Also a comment may be the header, as NumPy writes it
    fits = [
        (len(wanted & {x.strip() for x in cells}), is_data)
        for cells, is_data, _ in rows[:_MOST_LINES]
    ]
    most = max(fits)
    place = fits.index(most)
    header, _, end = rows[place]
    line = end - len(re.findall(r"\r\n?|\n", ",".join(header)))
    of_orange = [{x.strip() for x in cells} for cells, _, _ in rows[place + 1 : place + 3]]
    if len(of_orange) == 2 and of_orange[0] & _ORANGE and of_orange[1] <= _ORANGE_ROLES:
        end = rows[place + 2][2]  # the types of columns, and what they are for
    below = [cells for cells, is_data, line in rows if is_data and line > end]
    names = [name.strip() for name in header]
    has_row_names = False
    if below and all(len(row) == len(header) + 1 for row in below):
        has_row_names = any(row[-1] for row in below)  # else each ends with a separator
        # Numbers that begin with 0 may be what follows a decimal comma
        has_parts = separator == "," and any(re.match(r"0\d", x) for row in below for x in row[1:])
        if not has_parts:
            names = ["", *names] if has_row_names else [*names, ""]
    if names[:1] == ["inst#"] and "distribution" in names:  # of Weka, over several columns
        place = names.index("distribution")
        blanks = itertools.takewhile(lambda name: not name, names[place + 1 :])
        for k, _ in enumerate(blanks, start=2):
            names[place : place + k] = [f"distribution_{code}" for code in range(1, k + 1)]
    same = sum(len(row) == len(names) for row in below) / max(len(below), 1)
    last = next(itertools.islice(io.StringIO(text, newline=""), max(end - 1, 0), None), "")
    has_spaces = f"{separator} " in last or f" {separator}" in last
    fit = (most[0], len(names) > 1, same)
    return _Layout(separator, names, line, end, has_row_names, has_spaces, fit)


def _note(file: Path, layout: _Layout, has_commas: bool) -> str | None:
    """Say how a file was read, if that is not what its name promises."""
    usual = "\t" if re.search(r"\.(tsv|tab)\b", file.name.lower()) else ","
    unusual = {
        f"separator {_spelled(layout.separator)}": layout.separator != usual,
        "decimal comma": has_commas,
        f"encoding {layout.encoding}": layout.encoding not in ("utf-8", "utf-8-sig"),
        f"header in line {layout.line}": layout.line > 1,
    }
    parts = [what for what, is_so in unusual.items() if is_so]
    return f"read with {', '.join(parts)}" if parts else None


def _spelled(separator: str) -> str:
    return {"\t": "tab", " ": "space"}.get(separator, repr(separator))


# Cells


def _read(file: Path, layout: _Layout, given: Format) -> list[Any] | None:
    """Return all columns as text; None if the file is not encoded as it seemed to be."""
    import pyarrow
    from pyarrow import csv

    bad: list[Any] = []

    def on_bad_row(row: Any) -> str:
        if row.text.startswith("#"):
            return "skip"
        bad.append(row)
        return "error"

    try:
        # Opened by Python: Arrow takes no names that are not UTF-8
        with file.open("rb") as raw, pyarrow.input_stream(raw, layout.compression) as stream:
            table = csv.read_csv(
                stream,
                csv.ReadOptions(
                    column_names=layout.names, skip_rows=layout.n_lines, encoding=layout.encoding
                ),
                csv.ParseOptions(delimiter=layout.separator, invalid_row_handler=on_bad_row),
                csv.ConvertOptions(column_types=dict.fromkeys(layout.names, pyarrow.string())),
            )
    except pyarrow.ArrowInvalid as error:
        if bad:
            raise ValueError(
                f"CSV parse error: with the separator {_spelled(layout.separator)} a row has "
                f"{bad[0].actual_columns} cells, but the header has {bad[0].expected_columns}: "
                f"{bad[0].text[:80]!r}. Quote cells that hold the separator, such as decimal commas"
            ) from error
        if "UTF8" in str(error) and given.encoding is None:
            return None
        raise
    return list(table.columns)


def _read_spaced(file: Path, layout: _Layout, given: Format) -> list[Any]:
    """Return all columns as text, without the spaces around cells, which pyarrow would keep."""
    import pandas as pd
    import pyarrow
    import pyarrow.compute as pc

    frame = pd.read_csv(
        file,
        sep=layout.separator,
        header=None,
        names=range(len(layout.names)),
        skiprows=layout.n_lines,
        skipinitialspace=True,
        dtype=str,
        keep_default_na=False,
        encoding=layout.encoding,
        compression=layout.compression,
    )
    columns = [pyarrow.chunked_array([frame[place].to_list()], "string") for place in frame]
    return [pc.utf8_trim_whitespace(column) for column in columns]


def numbers_of(
    name: str, column: Any, decimal: str | None = None, *, is_used: bool = True
) -> tuple[Any, str | None]:
    """Return a column as numbers if its texts spell numbers, and the decimal mark in them.

    Separators of thousands are taken for what they are in columns that are used.
    """
    import pyarrow
    import pyarrow.compute as pc

    if not (pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)):
        return column, None
    if decimal != ",":
        with contextlib.suppress(pyarrow.ArrowInvalid):
            return column.cast("float64"), None
    if not is_used:
        return column, None
    texts = pc.utf8_trim_whitespace(column)
    texts = pc.replace_substring_regex(texts, r"^\*", "")  # with which Weka marks the largest
    is_missing = pc.is_in(texts, pyarrow.array([*MISSING, "None", "<NA>"]))
    texts = pc.if_else(is_missing, None, pc.replace_substring(texts, "\N{MINUS SIGN}", "-"))
    marks = decimal or ".,"
    readings = {mark: x for mark in marks if (x := _with_mark(texts, mark)) is not None}
    if not readings:
        return column, None
    mark, numbers = next(iter(readings.items()))
    if len(readings) > 1 and not numbers.equals(readings[","]):
        example = pc.filter(texts, pc.match_substring_regex(texts, "[.,]"))[0].as_py()
        raise ValueError(
            f"column {name!r} has numbers such as {example}, whose {example[-4]!r} may be a "
            "decimal mark or separate thousands: say which mark is the decimal one by decimal="
        )
    has_mark = pc.any(pc.match_substring(texts, mark)).as_py()
    return numbers, mark if has_mark else None


def _with_mark(texts: Any, mark: str) -> Any:
    """Return the numbers that texts spell with a decimal mark, None if one spells none."""
    import pyarrow.compute as pc

    d, groups = re.escape(mark), _GROUPS.replace(mark, "")
    plain = rf"(\d+({d}\d*)?|{d}\d+)([eE][+-]?\d+)?|(?i:inf|infinity)"
    grouped = "|".join(rf"[1-9]\d{{0,2}}({re.escape(g)}\d{{3}})+({d}\d*)?" for g in groups)
    if not pc.all(pc.match_substring_regex(texts, rf"^[+-]?({plain}|{grouped})$")).as_py():
        return None
    bare = pc.replace_substring_regex(texts, f"[{re.escape(groups)}]", "")
    return pc.replace_substring(bare, mark, ".").cast("float64")


def _check_decimals(table: Mapping[str, Any], decimals: Mapping[str, str | None]) -> None:
    """Refuse a file in which some numbers have a comma and others a point."""
    import pyarrow
    import pyarrow.compute as pc

    commas = [name for name, mark in decimals.items() if mark == ","]
    if not commas:
        return
    for name, mark in decimals.items():
        column = table[name]
        is_point = mark == "." or (
            mark is None
            and pyarrow.types.is_floating(column.type)
            and pc.any(pc.not_equal(column, pc.floor(column))).as_py()
        )
        if is_point:
            raise ValueError(
                f"column {commas[0]!r} has decimal commas, but column {name!r} has decimal points: "
                "write them alike, or say by decimal= which of both separates thousands"
            )


def guessed_encoding(text: bytes) -> str:
    """Return the encoding in which the words of a text look best, and warn that it is a guess.

    Class names are too few and too short for statistics of languages. But wrongly read they mix
    scripts, have letters of several languages or capitals after small letters, or hold symbols.
    """
    words = [x for x in dict.fromkeys(re.split(rb"[\s,;\t|\"']+", text)) if not x.isascii()][:1000]
    read: dict[str, list[str]] = {}
    for encoding, _ in _LEGACY:
        with contextlib.suppress(UnicodeDecodeError):
            read[encoding] = [word.decode(encoding) for word in words]
    ways = [way for way in _LEGACY if way[0] in read]
    read["latin-1"] = [word.decode("latin-1") for word in words]
    best, _ = min(ways, key=lambda way: _oddness(read[way[0]], *way), default=("latin-1", ""))
    remark = (
        f"pass encoding= if {listing(read[best][:3])} are wrong words: the file is not UTF-8, and "
        f"its encoding is taken for {best}, in which they are its words"
    )
    warn([remark])
    return best


def _oddness(words: Iterable[str], encoding: str, letters: str) -> float:
    """Return how many words are hardly ones that somebody has written, less for unusual ones."""
    scripts = tuple(letters.split(",")) if letters.isupper() else ()
    total, marks = 0.0, _COMMON.get(encoding, "utf-8")
    for word in words:
        beyond = "".join(x for x in word if not x.isascii() and x not in _MARKS_IN_TEXT)
        parts = [x for x in re.findall(r"[^\W\d_]+", word) if not x.isascii()]
        total += (
            not beyond.isalpha()
            or any(_is_odd(part, letters, scripts) for part in parts)
            or beyond.encode(marks, "ignore").decode(marks) != beyond
        )
        total += 0.5 * any(x.isupper() and not x.isascii() for part in parts for x in part[1:])
        if encoding == "euc_jp":  # Chinese writes with the same bytes, and is more common
            total += 0.5 * (re.search("[\u3040-\u30ff]", word) is None)
    return total


def _is_odd(part: str, letters: str, scripts: tuple[str, ...]) -> bool:
    """Whether letters in a row mix languages, or capitals with small letters."""
    if any(map(str.isupper, part[1:])) and any(map(str.islower, part[1:])):
        return True
    if scripts:
        return not all(unicodedata.name(x, "").startswith(scripts) for x in part)
    is_latin = len(part) == 1 or any(map(str.isascii, part))
    return not (is_latin and all(x.isascii() or x in letters for x in part.lower()))
