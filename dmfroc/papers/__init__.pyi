from .paper_bootstrap import PaperBootstrap as PaperBootstrap
