"""What the preload costs a file server (papers/000, Table 3): transfer rate, and CPU time of the server per byte."""
