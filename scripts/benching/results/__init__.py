"""The pages in results/: `make results`."""
