/** What arrives at a broker now, for readers that keep no position: both brokers implement {@code LiveMessages}. */
package io.lifeline.jobs.core.live;
