package io.lifeline.console.web;

/** An answer that is not JSON. */
record Content(String mediaType, byte[] bytes) {}
