package io.lifeline.jobs.archive.export;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Archives;
import java.util.List;

/** Two processes with one pid, and everything that a trace must place. Ticks are nanoseconds, the first one is 100. */
final class Scenario {
  private static final EventType READ_START = half("disk.read.start").build();
  private static final EventType READ_END = half("disk.read.end").field("nbytes", FieldType.U64, "B").build();
  private static final EventType RECEIVE_START = half("net.receive.start").build();
  private static final EventType RECEIVE_END = half("net.receive.end").build();
  private static final EventType CALL_START = EventType.named("call.start").build();
  private static final EventType CALL_END = EventType.named("call.end").build();
  private static final EventType NOTE = EventType.named("note").constant("fixed", FieldType.BOOL, "", true)
      .field("text", FieldType.STRING).field("x", FieldType.F64).build();
  private static final EventType NETWORK = EventType.named("host.network").field("interface", FieldType.STRING)
      .field("receive_bytes", FieldType.U64, "B").field("load", FieldType.F64).build();
  private static final EventType LONELY = EventType.named("lonely.start").build();

  private Scenario() {}

  private static EventType.Builder half(String name) {
    return EventType.named(name).field("id", FieldType.U64);
  }

  static List<byte[]> batches() {
    BatchWriter sender = Archives.batch(new Incarnation(1, 1), 1).host("a").thread(7)
        .event(READ_START, 100, 5).event(READ_START, 150, 6).event(READ_END, 200, 5, 4096)
        .event(READ_END, 260, 6, 4096)
        .event(CALL_START, 300).event(CALL_START, 310).event(CALL_END, 320).event(CALL_END, 330)
        .event(NOTE, 400, "a, \"b\"", 0.5)
        .event(NETWORK, 500, "eth0", 10, 0.25).event(NETWORK, 600, "eth0", 20, Double.NaN)
        .event(NETWORK, 600, "lo", -1L, 1.0);
    BatchWriter receiver = Archives.batch(new Incarnation(1, 2), 1).host("b").thread(7)
        .event(RECEIVE_START, 205, 5).event(RECEIVE_END, 250, 5).event(RECEIVE_START, 255, 6)
        .event(RECEIVE_END, 270, 6)
        .event(LONELY, 700).event(RECEIVE_END, 710, 99).event(RECEIVE_START, 720, 77)
        .event(RECEIVE_START, 800, 88).event(RECEIVE_END, 790, 88);
    return List.of(sender.toByteArray(), receiver.toByteArray());
  }

  /** The events of both processes as {@link TraceLines}. */
  static final List<String> TRACE = List.of(
      "slice program (a, pid 42)/thread 7 disk.read: disk.read 0+100 id=5 nbytes=4096",
      "slice program (a, pid 42)/thread 7 disk.read: disk.read 50+110 id=6 nbytes=4096",
      "slice program (a, pid 42)/thread 7 call: call 200+30",
      "slice program (a, pid 42)/thread 7 call: call 210+10",
      "instant program (a, pid 42)/thread 7: note 300 fixed=true text=a, \"b\" x=0.5",
      "counter program (a, pid 42)/host.network receive_bytes eth0: 400 10",
      "counter program (a, pid 42)/host.network load eth0: 400 0.25",
      "counter program (a, pid 42)/host.network receive_bytes eth0: 500 20",
      "counter program (a, pid 42)/host.network receive_bytes lo: 500 1.8446744073709552E19",
      "counter program (a, pid 42)/host.network load lo: 500 1.0",
      "slice program (b, pid 42)/thread 7 net.receive: net.receive 105+45 id=5",
      "slice program (b, pid 42)/thread 7 net.receive: net.receive 155+15 id=6",
      "instant program (b, pid 42)/thread 7: lonely.start 600",
      "instant program (b, pid 42)/thread 7: net.receive.end 610 id=99",
      "open program (b, pid 42)/thread 7 net.receive: net.receive 620 id=77",
      "instant program (b, pid 42)/thread 7: net.receive.end 690 id=88",
      "instant program (b, pid 42)/thread 7: net.receive.start 700 id=88");
}
