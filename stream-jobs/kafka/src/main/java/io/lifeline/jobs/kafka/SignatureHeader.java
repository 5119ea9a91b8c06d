package io.lifeline.jobs.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Reads a batch's signature from its Kafka header: FORMAT.md, section 12. */
final class SignatureHeader {

  private static final String NAME = "lifeline-signature";

  private SignatureHeader() {}

  /** Returns the signature; null if there is none. */
  static String of(Headers headers) {
    Header header = headers.lastHeader(NAME);
    return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.US_ASCII);
  }
}
