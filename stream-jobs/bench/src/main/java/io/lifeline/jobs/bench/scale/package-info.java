/** Many emitters, short-lived processes and event types, for measuring what the jobs keep of them. */
package io.lifeline.jobs.bench.scale;
