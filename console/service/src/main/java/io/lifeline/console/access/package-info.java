/**
 * Who calls the service, and what that caller may do. {@code Access} identifies the sender of a request, {@code Tokens}
 * is the file of tokens, {@code Delegation} limits what an issued token may do, and {@code Audit} records each change.
 * Nothing here knows HTTP; {@code web} asks it.
 */
package io.lifeline.console.access;
