package io.lifeline.jobs.core.bottleneck;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * How events of one type describe operations. A type has a role only if its fields are of the required kinds, since an
 * emitter may declare any type under any name.
 */
@FunctionalInterface
interface Role {

  /** Processes the batch's current event; returns false for an end without a start, or after its interval. */
  boolean take(BatchReader batch, Operations operations);

  /** @param components names by operation; types of other operations have no role */
  static Optional<Role> of(EventType type, Map<String, String> components) {
    if (type.name().equals("lifeline.summary")) {
      return report(type, components);
    }
    String started = withoutEnding(type.name(), ".start");
    if (components.containsKey(started)) {
      return start(type, started);
    }
    String ended = withoutEnding(type.name(), ".end");
    return components.containsKey(ended) ? end(type, ended, components.get(ended)) : Optional.empty();
  }

  /** Returns null if the name has another ending. */
  private static String withoutEnding(String name, String ending) {
    return name.endsWith(ending) ? name.substring(0, name.length() - ending.length()) : null;
  }

  private static Optional<Role> start(EventType type, String operation) {
    int id = index(type, "id", FieldType::isIntegral);
    if (id < 0) {
      return Optional.empty();
    }
    return Optional.of(
        (batch, operations) -> {
          operations.start(operation, batch.thread(), batch.getLong(id), batch.timeNs());
          return true;
        });
  }

  private static Optional<Role> end(EventType type, String operation, String component) {
    int id = index(type, "id", FieldType::isIntegral);
    int whole = index(type, "nbytes", FieldType::isIntegral);
    int real = index(type, "value", FieldType::isFloating);
    if (id < 0 || whole < 0 && real < 0) {
      return Optional.empty();
    }
    return Optional.of(
        (batch, operations) -> {
          double bytes = whole >= 0 ? batch.getLong(whole) : batch.getDouble(real);
          return operations.end(operation, component, batch.thread(), batch.getLong(id), batch.timeNs(), bytes);
        });
  }

  private static Optional<Role> report(EventType type, Map<String, String> components) {
    int of = index(type, "type", FieldType.STRING::equals);
    int field = index(type, "field", FieldType.STRING::equals);
    int interval = index(type, "interval", FieldType::isIntegral);
    int count = index(type, "count", FieldType::isIntegral);
    int sum = index(type, "sum", FieldType::isFloating);
    int variance = index(type, "variance", FieldType::isFloating);
    int threads = index(type, "threads", FieldType::isIntegral);
    if (IntStream.of(of, field, interval, count, sum, variance).anyMatch(index -> index < 0)) {
      return Optional.empty();
    }
    return Optional.of(
        (batch, operations) -> {
          String operation = batch.getString(of);
          String component = components.get(operation);
          if (component == null) {
            return true;
          }
          Report.Aspect aspect =
              new Report.Aspect(batch.getLong(count), batch.getDouble(sum), batch.getDouble(variance),
                  threads < 0 ? 0 : Math.max(0, batch.getLong(threads)));
          operations.report(
              operation, component, batch.getString(field), aspect, batch.timeNs(), batch.getLong(interval));
          return true;
        });
  }

  /** Returns the field's index; -1 if there is none of that kind. */
  private static int index(EventType type, String name, Predicate<FieldType> kind) {
    List<Field> fields = type.fields();
    return IntStream.range(0, fields.size())
        .filter(i -> fields.get(i).name().equals(name) && kind.test(fields.get(i).type()))
        .findFirst()
        .orElse(-1);
  }
}
