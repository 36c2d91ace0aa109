"""What ``dmfroc cite`` prints."""

from __future__ import annotations

from dmfroc._kit.version import package_version

_SOFTWARE = """\
@software{dmfroc,
  title   = {dmfroc: multiclass {ROC} curves, {AUCs} and intervals by deviance matrix
             factorization},
  author  = {{The dmfroc developers}},
  version = {%s}
}"""
_PAPERS = """\
% DMF-AUC, multiclass ROC curve
@misc{wang2024multiclass,
  title  = {Multiclass {ROC}},
  author = {Wang, Liang and Carvalho, Luis},
  year   = {2024},
  eprint = {2404.13147},
  archiveprefix = {arXiv}
}
% Hand and Till's M
@article{hand2001simple,
  title   = {A simple generalisation of the area under the {ROC} curve for multiple class
             classification problems},
  author  = {Hand, David J. and Till, Robert J.},
  journal = {Machine Learning},
  volume  = {45},
  pages   = {171--186},
  year    = {2001},
  doi     = {10.1023/A:1010920819831}
}
% Informedness, markedness
@article{powers2011evaluation,
  title   = {Evaluation: from precision, recall and {F}-measure to {ROC}, informedness, markedness
             and correlation},
  author  = {Powers, David M. W.},
  journal = {Journal of Machine Learning Technologies},
  volume  = {2},
  pages   = {37--63},
  year    = {2011}
}
% standard error of AUCs and of M
@article{delong1988comparing,
  title   = {Comparing the areas under two or more correlated receiver operating characteristic
             curves: a nonparametric approach},
  author  = {DeLong, Elizabeth R. and DeLong, David M. and Clarke-Pearson, Daniel L.},
  journal = {Biometrics},
  volume  = {44},
  pages   = {837--845},
  year    = {1988}
}
% intervals of near-perfect classifiers
@article{fay1997confidence,
  title   = {Confidence intervals for directly standardized rates: a method based on the gamma
             distribution},
  author  = {Fay, Michael P. and Feuer, Eric J.},
  journal = {Statistics in Medicine},
  volume  = {16},
  pages   = {791--801},
  year    = {1997}
}"""


def citation() -> str:
    """Return BibTeX entries of the software and of the papers behind its measures."""
    return f"{_SOFTWARE % package_version()}\n{_PAPERS}"
