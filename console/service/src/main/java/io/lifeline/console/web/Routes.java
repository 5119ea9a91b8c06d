package io.lifeline.console.web;

import java.util.List;
import java.util.stream.Stream;

/** All that the service answers. */
public record Routes(List<Operation> operations, List<EventStream> streams) {
  public static Routes of(StatusOperations status, TraceOperations trace, ArchiveOperations archive,
      ReportOperations report, AccessOperations access, EmitterOperations emitters, ActivationOperations activations) {
    List<Operation> operations = Stream.of(status.all(), trace.all(), archive.all(), report.all(), access.all(),
        emitters.all(), activations.all()).flatMap(List::stream).toList();
    return new Routes(operations, List.of(status));
  }
}
