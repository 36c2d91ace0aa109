"""The band of a curve from predictions, with the options that several tests have."""

from dmfroc.inference.units import sample_of
from dmfroc.multiclass.band import band_around, bootstrap_band
from dmfroc.multiclass.curve import curve_of
from dmfroc.multiclass.rates import CurveOptions


def curve_band(
    predictions,
    *,
    level=0.95,
    kind="pointwise",
    groups=None,
    stratify=None,
    find=band_around,
    **options,
):
    """Return the band of the curve of predictions."""
    chosen = CurveOptions(**options)
    sample = sample_of(predictions, groups, stratify=stratify)
    return find(curve_of(predictions, chosen), sample, level, chosen, kind)


__all__ = ["bootstrap_band", "curve_band"]
