package io.lifeline.console.web;

import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Refusal;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records what callers change: before it is done, or it is not done, and what became of it. */
final class Auditing {
  private static final Logger LOG = LoggerFactory.getLogger(Auditing.class);

  private final Audit audit;

  Auditing(Audit audit) {
    this.audit = audit;
  }

  /** Does the operation for a caller who may. */
  Object answer(Call call, Operation operation) throws Exception {
    if (!operation.changes()) {
      return operation.work().answer(call);
    }
    Identity who = call.identity();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("path", call.path());
    if (operation.body() != null && call.body(operation.body()) instanceof Audited body) {
      details.putAll(body.audited());
    }
    audit.record(who, operation.name(), details, Audit.BEGUN);
    String outcome = Audit.DONE;
    try {
      return operation.work().answer(call);
    } catch (Problem | Refusal e) {
      outcome = "refused: " + e.getMessage();
      throw e;
    } catch (Exception e) {
      outcome = "failed: " + e;
      throw e;
    } finally {
      outcome(who, operation.name(), details, outcome);
    }
  }

  /** Records that a caller wanted what it may not. */
  void refused(Call call, Operation operation, Refusal why) {
    if (operation.changes() && call.login() != null) {
      outcome(call.identity(), operation.name(), Map.of("path", call.path()), "refused: " + why.getMessage());
    }
  }

  /** What is done cannot be undone if only its outcome cannot be recorded: its beginning is in the audit log. */
  private void outcome(Identity who, String action, Map<String, Object> details, String outcome) {
    try {
      audit.record(who, action, details, outcome);
    } catch (Refusal e) {
      LOG.error("{} of {} is {}, but {}", action, who.name(), outcome, e.getMessage());
    }
  }
}
