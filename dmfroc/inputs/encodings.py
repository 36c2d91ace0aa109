"""Which encoding a file of text has: marks and UTF-8 show it, others have to be guessed."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
import unicodedata
from collections.abc import Iterable

from dmfroc.inputs.messages import listing

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


def sure_encoding(head: bytes) -> str | None:
    """Return the encoding that the beginning of a file shows, None if none is certain."""
    encoding = json.detect_encoding(head)
    if encoding != "utf-8":
        return encoding
    with contextlib.suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return "utf-8"
    return None


def guess_message(text: bytes) -> tuple[str, str]:
    """Return the encoding that a text seems to have, and a warning that it is a guess."""
    encoding, words = guessed_encoding(text)
    return encoding, (
        f"the file is not UTF-8: its encoding is taken for {encoding}, in which its words are "
        f"{listing(words[:3])}; if they are wrong, pass encoding="
    )


def guessed_encoding(text: bytes) -> tuple[str, list[str]]:
    """Return the encoding in which the words of a text look best, and these words.

    Class names are too few and too short for statistics of languages. But wrongly read they mix
    scripts, have letters of several languages or capitals after small letters, or hold symbols.
    """
    words = [x for x in dict.fromkeys(re.split(rb"[\s,;\t|\"']+", text)) if not x.isascii()][:1000]
    read: dict[str, list[str]] = {}
    for encoding, _ in _LEGACY:
        with contextlib.suppress(UnicodeDecodeError):
            read[encoding] = [word.decode(encoding) for word in words]
    if not read:
        return "latin-1", [word.decode("latin-1") for word in words]
    ways = [way for way in _LEGACY if way[0] in read]
    best, _ = min(ways, key=lambda way: _oddness(read[way[0]], *way))
    return best, read[best]


def _oddness(words: Iterable[str], encoding: str, letters: str) -> float:
    """Return how many words are hardly ones that somebody has written, less for unusual ones."""
    scripts = tuple(letters.split(",")) if letters.isupper() else ()
    total = 0.0
    for word in words:
        beyond = "".join(x for x in word if not x.isascii() and x not in _MARKS_IN_TEXT)
        parts = [x for x in re.findall(r"[^\W\d_]+", word) if not x.isascii()]
        total += (
            not beyond.isalpha()
            or any(_is_odd(part, letters, scripts) for part in parts)
            or not _can_be(beyond, _COMMON.get(encoding, "utf-8"))
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


def _can_be(word: str, encoding: str) -> bool:
    try:
        word.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
