from ..analyses.accumulation import Accumulator as Accumulator
from ..analyses.accumulation import Look as Look
from .scan import Scan as Scan
