"""The kinds of charts, and the displays that draw them."""

CHARTS = {
    "accuracy": "AccuracyDisplay",
    "bift": "BIFTDisplay",
    "bird": "BIRDDisplay",
    "boc": "BOCDisplay",
    "bprd": "BPRDDisplay",
    "calibration": "CalibrationDisplay",
    "cost": "CostDisplay",
    "delta-pn": "DeltaPNDisplay",
    "det": "DETDisplay",
    "gains": "CumulativeGainsDisplay",
    "lift": "LiftDisplay",
    "log-pr": "LogPrecisionRecallDisplay",
    "multiclass-roc": "MulticlassROCDisplay",
    "pairs": "PairwiseAUCDisplay",
    "pn": "PNDisplay",
    "pr": "PrecisionRecallDisplay",
    "prg": "PRGDisplay",
    "reciprocal-pr": "ReciprocalPrecisionRecallDisplay",
    "reliability": "ReliabilityDisplay",
    "roc": "ROCDisplay",
}
