"""Which encoding a file of text has: marks and UTF-8 show it, others have to be guessed."""

from __future__ import annotations

import codecs
import contextlib
import re
import unicodedata
from collections.abc import Iterable

from dmfroc.inputs.messages import listing

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The more common ones first; the characters in which whole words are written there
_LEGACY = {
    "cp1252": "LATIN",
    "cp932": "CJK HIRAGANA KATAKANA",
    "cp949": "HANGUL",
    "gb18030": "CJK",
    "big5": "CJK",
    "cp1251": "CYRILLIC",
    "koi8_r": "CYRILLIC",
    "cp1253": "GREEK",
    "cp1250": "LATIN",
    "mac_roman": "LATIN",
    "cp1254": "LATIN",
    "cp850": "LATIN",
    "iso8859_2": "LATIN",
}
_COMMON = {"gb18030": "gb2312", "big5": "big5"}  # where common characters are, of all that exist
_MARKS_IN_TEXT = frozenset("\u2018\u2019\u201c\u201d\u2013\u2026\u30fc")


def sure_encoding(head: bytes) -> str | None:
    """Return the encoding that the beginning of a file shows, None if none is certain."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head[:2]:  # Latin letters in UTF-16
        return "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
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
    scripts, have capitals after small letters, or hold symbols.
    """
    words = [x for x in dict.fromkeys(re.split(rb"[\s,;\t|\"']+", text)) if not x.isascii()][:1000]
    read: dict[str, list[str]] = {}
    for encoding in _LEGACY:
        with contextlib.suppress(UnicodeDecodeError):
            read[encoding] = [word.decode(encoding) for word in words]
    if not read:
        return "latin-1", [word.decode("latin-1") for word in words]
    best = min(read, key=lambda encoding: _oddness(read[encoding], encoding))
    return best, read[best]


def _oddness(words: Iterable[str], encoding: str) -> float:
    """Return how many words are hardly ones that somebody has written, 1/2 for unusual ones."""
    scripts, common, total = _LEGACY[encoding].split(), _COMMON.get(encoding), 0.0
    for word in (text.lstrip("\u00bf\u00a1") for text in words):
        beyond = [x for x in word if not x.isascii() and x not in _MARKS_IN_TEXT]
        letters = [x for x in word if x.isalpha()]
        tail = [x for x in letters[1:] if x.isupper() or x.islower()]
        total += bool(
            any(not x.isalpha() for x in beyond)
            or any(unicodedata.name(x, "NONE").split()[0] not in scripts for x in letters)
            or (any(map(str.isupper, tail)) and any(map(str.islower, tail)))
            or (common is not None and not _can_be(word, common))
            or (scripts == ["LATIN"] and len(letters) > 1 and len(beyond) == len(letters))
        )
        total += 0.5 * any(x.isupper() and not x.isascii() for x in tail)
    return total


def _can_be(word: str, encoding: str) -> bool:
    try:
        word.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
