"""Statistics: what turns observation weights into the tables that measures summarise.

Each is bound to predictions, where it sorts and selects once. What it then counts is additive over
the observations; its pull-back stands next to its forward pass.
"""
