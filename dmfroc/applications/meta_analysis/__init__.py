"""Meta-analysis of diagnostic accuracy: summary ROC curves from the published counts of studies."""
