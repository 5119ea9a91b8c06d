package io.lifeline.jobs.archive.export;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The lanes of one operation of a thread: as many as it had of them at a time. */
final class Lanes {
  private final Tracks tracks;
  private final Track thread;
  private final String operation;
  private final List<Track> lanes = new ArrayList<>();
  private final BitSet busy = new BitSet();

  Lanes(Tracks tracks, Track thread, String operation) {
    this.tracks = tracks;
    this.thread = thread;
    this.operation = operation;
  }

  /** Returns the first free lane; -1 if there is none and no more tracks are allowed. */
  int take() throws IOException {
    int lane = busy.nextClearBit(0);
    if (lane == lanes.size()) {
      Track track = tracks.lane(thread, operation);
      if (track == null) {
        return -1;
      }
      lanes.add(track);
    }
    busy.set(lane);
    return lane;
  }

  Track track(int lane) {
    return lanes.get(lane);
  }

  void release(int lane) {
    busy.clear(lane);
  }
}
