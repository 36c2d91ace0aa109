from .moses import MosesLittenbergROC as MosesLittenbergROC
from .moses import moses_littenberg_roc as moses_littenberg_roc
