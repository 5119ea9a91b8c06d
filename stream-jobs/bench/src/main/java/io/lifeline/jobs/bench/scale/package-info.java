/** Many emitters, short-lived processes, event types and days, for measuring what they cost jobs and readers. */
package io.lifeline.jobs.bench.scale;
