"""Measures what the engines make of events. A family of rows is a file here that has

    CASES            the rows, before they are measured
    measure(names, quick)
                     measures at least the rows of those names, and gives a Row for each; RuntimeError when it cannot

Rows of one family that are each other's baselines are measured in turns by one call."""
