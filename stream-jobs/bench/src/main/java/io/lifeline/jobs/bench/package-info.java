/** The benchmarks that {@code scripts/bench-jobs} runs, including those of alternatives. */
package io.lifeline.jobs.bench;
