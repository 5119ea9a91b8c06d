package io.lifeline.console.web;

import java.util.Map;

/** The body of a request that changes something. */
interface Audited {
  /** Returns what the audit log keeps of it: no secrets. */
  Map<String, Object> audited();
}
