package io.lifeline.jobs.core;

import io.lifeline.jobs.core.JobHost.HostException;
import java.util.Map;

/** Reads back what jobs have published as upserts. */
@FunctionalInterface
public interface Upserts {

  /** The newest value of each key, in order of key. */
  Map<String, byte[]> latest(Destination destination) throws HostException;
}
