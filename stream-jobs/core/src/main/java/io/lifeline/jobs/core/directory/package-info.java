/** The directory: who emits, how much, at which resolution, and who follows which activation. */
package io.lifeline.jobs.core.directory;
