/** What {@code scripts/bench-jobs} runs, rivals included. */
package io.lifeline.jobs.bench;
