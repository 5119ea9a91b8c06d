package io.lifeline.console.access;

/**
 * Who calls.
 *
 * @param name of the token, {@code certificate:NAME}, {@code command:USER} or {@code local}
 * @param onBehalfOf the person for whom the caller acts; null if that is the caller
 * @param from the address from which the call comes
 */
public record Identity(String name, Role role, String onBehalfOf, String from, Limits limits) {}
