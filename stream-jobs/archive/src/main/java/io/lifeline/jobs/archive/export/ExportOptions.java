package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.core.Glob;
import java.nio.file.Path;
import java.util.List;

/**
 * Limits and choices of the formats.
 *
 * @param maxOpen operations that may be open at a time, and ids whose last step is remembered
 * @param maxTracks tracks of a timeline, or threads of a Paraver trace
 * @param counters event types whose numbers become counter tracks
 * @param spill existing directory for what exceeds the memory
 * @param memoryBytes limit of DuckDB's memory
 * @param session ID of the session that is exported; null if all are
 */
public record ExportOptions(int maxOpen, int maxTracks, List<Glob> counters, Path spill, long memoryBytes,
    String session) {}
