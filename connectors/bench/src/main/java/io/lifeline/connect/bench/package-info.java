/** What {@code scripts/bench-jobs} runs of the connectors. */
package io.lifeline.connect.bench;
