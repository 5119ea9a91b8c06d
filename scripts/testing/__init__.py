"""Runs the tests of every language and adds up their reports."""
