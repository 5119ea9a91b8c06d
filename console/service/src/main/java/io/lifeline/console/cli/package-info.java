/** The command {@code lifeline-console}. */
package io.lifeline.console.cli;
