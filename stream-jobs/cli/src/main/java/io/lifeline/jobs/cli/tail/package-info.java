/** The command {@code lifeline-jobs tail}: prints events as they arrive at the broker. */
package io.lifeline.jobs.cli.tail;
