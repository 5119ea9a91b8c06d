/** The commands that show the directory of emitters. */
package io.lifeline.jobs.cli.directory;
