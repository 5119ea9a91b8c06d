/** Reads the archive for the page: the fields of events, series of values, SQL. */
package io.lifeline.console.archive;
