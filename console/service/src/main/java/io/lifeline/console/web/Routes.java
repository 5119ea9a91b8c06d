package io.lifeline.console.web;

import java.util.List;
import java.util.stream.Stream;

/** All that the service answers. */
public record Routes(List<Operation> operations) {
  public static Routes of(StatusOperations status, TraceOperations trace, ArchiveOperations archive,
      ReportOperations report, AccessOperations access, EmitterOperations emitters, ActivationOperations activations,
      EventOperations events, WebhookOperations webhooks) {
    return new Routes(Stream.of(status.all(), trace.all(), archive.all(), report.all(), access.all(), emitters.all(),
        activations.all(), events.all(), webhooks.all()).flatMap(List::stream).toList());
  }
}
