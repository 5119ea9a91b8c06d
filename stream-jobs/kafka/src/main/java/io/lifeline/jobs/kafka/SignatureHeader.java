package io.lifeline.jobs.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Where a batch's signature is on Kafka: FORMAT.md, section 12. */
final class SignatureHeader {

  private static final String NAME = "lifeline-signature";

  private SignatureHeader() {}

  /** Null if there is none. */
  static String of(Headers headers) {
    Header header = headers.lastHeader(NAME);
    return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.US_ASCII);
  }
}
