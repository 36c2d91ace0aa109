from ..analyses.accumulation import Accumulator as Accumulator
from .scan import Scan as Scan
