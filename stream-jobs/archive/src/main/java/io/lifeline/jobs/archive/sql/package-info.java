/** The archive as a read-only database: views over the files that the manifests name. */
package io.lifeline.jobs.archive.sql;
