"""Print what to type for each name of the package, whatever its case and its marks.

Errors about wrong names are made from the stored list alone, so that nothing is imported for them.
After a change of public names, or of those of measures, renew it from the root of the repository:

    python tests/stored_names.py > dmfroc/_kit/names.tsv
"""

from pathlib import Path
from types import ModuleType

import dmfroc
from dmfroc._kit.text import normalized
from dmfroc.analyses.catalogue import _AREAS_OF_TWO, MEASURES, SYNONYMS
from dmfroc.cli.commands import app
from dmfroc.results.result import Result

FILE = Path(dmfroc.__file__).parent / "_kit" / "names.tsv"


def lines() -> list[str]:
    """Return all lines: of names of several things that of the last."""
    found = [(x, f"dmfroc {x}, in a shell") for x in app.commands]
    methods = [x for x in vars(Result) if callable(getattr(Result, x)) and x[0] != "_"]
    found += [(x, f"dmfroc.evaluate(y_true, y_score).{x}()") for x in methods]
    rooms = [x for x in map(dmfroc.__getattribute__, dir(dmfroc)) if isinstance(x, ModuleType)]
    rooms.remove(dmfroc.extend)  # whose names nobody expects elsewhere
    found += [(x, f"{room.__name__}.{x}") for room in [*rooms, dmfroc] for x in dir(room)]
    measures = [(x, MEASURES["hand_till"]) for x in _AREAS_OF_TWO] + [*MEASURES.items()]
    measures += [(x, MEASURES[name]) for name, xs in SYNONYMS.items() for x in xs.split(", ")]
    for name, measure in measures:
        what = "y_pred=y_pred" if measure.needs == "labels" else "y_score"
        found.append((name, f'dmfroc.estimate("{measure.name}", y_true, {what})'))
    of_words = {normalized(name): line for name, line in found}
    return [f"{word}\t{of_words[word]}" for word in sorted(of_words)]


if __name__ == "__main__":
    print("\n".join(lines()))
