from .loss_comparison import lc_index as lc_index
from .moses import MosesLittenbergROC as MosesLittenbergROC
from .moses import moses_littenberg_roc as moses_littenberg_roc
from .significance import chi_squared_test as chi_squared_test
from .significance import fisher_exact_test as fisher_exact_test
from .significance import likelihood_ratio_test as likelihood_ratio_test
from .significance import powers_statistics as powers_statistics
from .significance import sellke_bayarri_berger as sellke_bayarri_berger
