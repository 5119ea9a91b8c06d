package io.lifeline.console.index;

/** Where events come from: one incarnation of a program. */
public record Origin(String incarnation, String program, String host, long pid) {}
