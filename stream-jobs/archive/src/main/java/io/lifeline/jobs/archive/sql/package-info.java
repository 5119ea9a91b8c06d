/** The archive as a database: views over the files that the manifests name, which can be asked and not changed. */
package io.lifeline.jobs.archive.sql;
