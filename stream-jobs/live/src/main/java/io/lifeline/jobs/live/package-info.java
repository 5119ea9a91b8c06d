/** One place that knows both brokers: what commands and services need of either. */
package io.lifeline.jobs.live;
