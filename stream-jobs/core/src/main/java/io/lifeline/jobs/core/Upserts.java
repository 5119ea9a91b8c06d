package io.lifeline.jobs.core;

import io.lifeline.jobs.core.JobHost.HostException;
import java.util.Map;

/** Reads the upserts that jobs have published. */
@FunctionalInterface
public interface Upserts {

  /** Returns the newest value of each key, in order of key. */
  Map<String, byte[]> latest(Destination destination) throws HostException;
}
