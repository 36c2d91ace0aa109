"""All that knows the one method: the multiclass ROC curve by deviance matrix factorization.

Pairs and their rates (`rates`), the rank-one fit (`center`), the curve and its area (`curve`,
`measure`), costs as weights (`costs`), its band, its Bayesian model and the paper's bootstrap.
"""
