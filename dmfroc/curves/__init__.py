"""Curves as data: exact points, areas, hulls and isometrics, with NumPy alone.

Every function of classes and scores returns one curve: that of the second of two classes, or of
the class ``pos_label``, against the rest. With ``multi_class="ovr"`` it returns a dictionary with a
curve of each class against the rest, with ``"ovo"`` of each ordered pair of classes.
"""

from dmfroc.curves.calibration import (
    CalibrationCurve,
    calibration_curve,
    isotonic_calibration_curve,
    loess_calibration_curve,
    roc_from_calibration,
)
from dmfroc.curves.charts import (
    accuracy_curve,
    bift_curve,
    bird_curve,
    boc_curve,
    bprd_curve,
    cumulative_gains_curve,
    delta_pn_curve,
    det_curve,
    lift_curve,
    pn_curve,
    roc_curve,
)
from dmfroc.curves.curve import Curve, Line
from dmfroc.curves.gain import (
    best_f_gain,
    crossing_gain,
    expected_f_gain,
    expected_inverse_f,
    f_gains,
    gain_area,
    operating_conditions,
    prg_curve,
)
from dmfroc.curves.gain_tables import (
    Interpolation,
    SameF,
    f_from_gain,
    f_gain,
    interpolate_gains,
    precision_gain,
    recall_gain,
    same_f_beta,
)
from dmfroc.curves.hull import Hull, convex_hull, cost_curve, pareto_points, repair_concavities
from dmfroc.curves.isometrics import Isometric, isometrics
from dmfroc.curves.loess import LoessFit, loess
from dmfroc.curves.points import Maximum, OperatingPoints, operating_points
from dmfroc.curves.precision_recall import (
    least_precision,
    log_precision_recall_curve,
    precision_recall_curve,
    reciprocal_precision_recall_curve,
)
from dmfroc.curves.summary import (
    CertaintyConsistency,
    area_under_kappa,
    certainty_consistency,
    expected_profits,
)
from dmfroc.papers.moses import MosesLittenbergROC, moses_littenberg_roc

__all__ = [
    "CalibrationCurve",
    "CertaintyConsistency",
    "Curve",
    "Hull",
    "Interpolation",
    "Isometric",
    "Line",
    "LoessFit",
    "Maximum",
    "MosesLittenbergROC",
    "OperatingPoints",
    "SameF",
    "accuracy_curve",
    "area_under_kappa",
    "best_f_gain",
    "bift_curve",
    "bird_curve",
    "boc_curve",
    "bprd_curve",
    "calibration_curve",
    "certainty_consistency",
    "convex_hull",
    "cost_curve",
    "crossing_gain",
    "cumulative_gains_curve",
    "delta_pn_curve",
    "det_curve",
    "expected_f_gain",
    "expected_inverse_f",
    "expected_profits",
    "f_from_gain",
    "f_gain",
    "f_gains",
    "gain_area",
    "interpolate_gains",
    "isometrics",
    "isotonic_calibration_curve",
    "least_precision",
    "lift_curve",
    "loess",
    "loess_calibration_curve",
    "log_precision_recall_curve",
    "moses_littenberg_roc",
    "operating_conditions",
    "operating_points",
    "pareto_points",
    "pn_curve",
    "precision_gain",
    "precision_recall_curve",
    "prg_curve",
    "recall_gain",
    "reciprocal_precision_recall_curve",
    "repair_concavities",
    "roc_curve",
    "roc_from_calibration",
    "same_f_beta",
]
