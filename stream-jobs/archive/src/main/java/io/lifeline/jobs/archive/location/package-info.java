/** Which archive is meant, by the jobs' settings or by options of a command: the one place that knows every kind. */
package io.lifeline.jobs.archive.location;
