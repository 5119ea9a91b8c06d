"""Measures the console: its service with an archive in memory, and its page in Chromium."""
