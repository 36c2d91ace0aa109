"""Find long sentences, and words that the house style has others for, in what readers see.

It reads the prose of the README, of the changelog, of the documentation, of docstrings, of
messages and of comments, without code, tables, formulas, references and pages that experiments
write. With
`--lengths`, print the length of each page's sentences.
"""

import ast
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 35  # words of a sentence
LONGEST_OF_COMMENTS = 25
OUT = {
    r"remarks?": "warning",
    r"allow(s|ed|ing)? for": "adjust for, account for",
    r"of which": "a sentence of its own",
    r"(as|than) what": "name the thing",
    r"as where": "if, when, as in",
    r"no more(?! than)": "no longer",
    r"(how|as|so|less|more) sure": "certain, precise",
    r"knows? (of|about|how)": "accounts for",
    r"the (former|latter)": "name the thing",
    r"lends?": "borrows from",
    r"what (it|they|is) promises?": "nominal coverage",
}
WORDS = {re.compile(rf"\b{word}\b", re.IGNORECASE): remedy for word, remedy in OUT.items()}
GENERATED = set((ROOT / "docs" / "experiments").glob("*.md")) - {
    ROOT / "docs" / "experiments" / name for name in ("coverage.md", "trust.md")
}
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted(set((ROOT / "docs").rglob("*.md")) - GENERATED),
]
PROGRAMS = ["dmfroc", "tests", "experiments", "benchmarks", ".ci"]
QUOTING = {"docs/papers.md"}  # titles
NOT_PROSE = re.compile(
    r"^## References\n.*?(?=^## |\Z)|^```.*?^```|^\$\$.*?\$\$|^:::.*?$|^\|.*?$|^#.*?$|^<[^>]*>$",
    re.MULTILINE | re.DOTALL,
)
NOT_IN_DOCSTRINGS = re.compile(
    r"^References\n-+\n.*?(?=^\w+( \w+)?\n---|\Z)|^ *>>>.*?(?=^ *$|\Z)|^[^\n]+\n-{3,}$"
    r"|^ *\*{0,2}\w[\w, *]* : [^\n]*$|::$.*?(?=^\S|\Z)",
    re.MULTILINE | re.DOTALL,
)
ABBREVIATED = re.compile(r"\b(e\.g|i\.e|vs|al|cf|approx|Fig|Eq|[A-Z])\.")


def sentences(text: str) -> Iterator[str]:
    """Split prose in Markdown or reStructuredText into sentences."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", NOT_PROSE.sub("\n", text))
    text = re.sub(r"``[^`]*``|`[^`]*`|\$[^$]*\$", "CODE", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", text):
        flat = ABBREVIATED.sub(r"\1", " ".join(paragraph.split()))
        yield from re.split(r"(?<=[.!?])[*_\")]*\s+(?=[*_\"(]*[A-Z0-9])", flat)


def docstrings(path: Path) -> Iterator[str]:
    """Return the prose of a module's docstrings, with a blank line where the indent changes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        text = NOT_IN_DOCSTRINGS.sub("", ast.get_docstring(node) or "")
        lines, indents = text.splitlines(), [0]
        for line in lines:
            indents.append(len(line) - len(line.lstrip()))
        pairs = zip(lines, itertools.pairwise(indents), strict=True)
        yield "\n".join(("\n" + x if a != b else x) for x, (a, b) in pairs)


def messages(path: Path) -> Iterator[str]:
    """Return the texts of a module that are no docstrings, with X for what is inserted."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Expr):
            parts.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts |= set(node.values)
            yield "".join(str(x.value) if isinstance(x, ast.Constant) else "X" for x in node.values)
        # What has lines is a template
        elif isinstance(node, ast.Constant) and node not in parts and "\n" not in str(node.value):
            yield str(node.value)


def comments(path: Path) -> Iterator[str]:
    """Return the comments of a module; those of consecutive lines are one."""
    block, end = "", (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            if (row, column) != end:
                yield block
                block = ""
            block, end = block + token.string.lstrip("#") + "\n", (row + 1, column)
    yield block


def n_words(sentence: str) -> int:
    """Count the words of a sentence, formulas and code as one each."""
    return sum(any(c.isalnum() for c in word) for word in sentence.split())


def offences(where: str, text: str, longest: float) -> Iterator[str]:
    """Describe what is wrong with a text."""
    for sentence in sentences(text):
        if (n := n_words(sentence)) > longest:
            yield f"{where}: {n} words, split it: {sentence}"
        for word, remedy in WORDS.items():
            if where not in QUOTING and (hit := word.search(sentence)):
                yield f"{where}: write another word for '{hit[0]}' ({remedy}): {sentence}"


def main() -> int:
    """Print all offences; return whether there are any."""
    texts = [(path, path.read_text(), LONGEST) for path in PAGES]
    if "--lengths" in sys.argv:
        for path, text, _ in texts:
            lengths = sorted(n for s in sentences(text) if (n := n_words(s)) > 2) or [0]
            middle, most = (lengths[int(q * (len(lengths) - 1))] for q in (0.5, 0.9))
            print(f"{path.relative_to(ROOT)}: {middle} in the median, 90 % up to {most}")
        return 0
    modules = sorted((ROOT / "dmfroc").rglob("*.py"))
    texts += [(path, x, LONGEST) for path in modules for x in (*docstrings(path), *messages(path))]
    programs = [path for name in PROGRAMS for path in sorted((ROOT / name).rglob("*.py"))]
    texts += [(path, x, LONGEST_OF_COMMENTS) for path in programs for x in comments(path)]
    found = [o for path, text, n in texts for o in offences(str(path.relative_to(ROOT)), text, n)]
    print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
