"""Speed and memory against peers: `python -m benchmarks` (or `make bench`)."""
