package io.lifeline.jobs.core.rate;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.FieldSelector;
import io.lifeline.jobs.core.derive.NewEvent;
import io.lifeline.jobs.core.rate.Samples.Sample;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The rates of one event type.
 *
 * @param texts indices of the fields whose values identify a series
 * @param numbers indices of the selected fields
 * @param rate the type of the new events
 */
record Rates(int[] texts, int[] numbers, EventType rate) {

  private static final int MAX_NAME_BYTES = 255;
  private static final int MAX_TEXT_BYTES = 1000;

  /** Returns empty if no field of the type is selected, or the names would be too long. */
  static Optional<Rates> of(EventType type, List<FieldSelector> selectors) {
    int[] texts = indices(type, field -> field.type() == FieldType.STRING);
    int[] numbers =
        indices(
            type,
            field ->
                (field.type().isFloating() || field.type().isIntegral() && field.type() != FieldType.BOOL)
                    && selectors.stream().anyMatch(selector -> selector.matches(type.name(), field.name())));
    EventType.Builder rate = EventType.named(type.name() + ".rate").level(type.level());
    boolean fits = fits(type.name() + ".rate");
    for (int text : texts) {
      rate.field(type.fields().get(text).name(), FieldType.STRING, type.fields().get(text).unit());
    }
    for (int number : numbers) {
      String unit = type.fields().get(number).unit() + "/s";
      fits &= fits(unit);
      rate.field(type.fields().get(number).name(), FieldType.F64, unit);
    }
    return fits && numbers.length > 0 ? Optional.of(new Rates(texts, numbers, rate.build())) : Optional.empty();
  }

  private static int[] indices(EventType type, Predicate<Field> wanted) {
    return IntStream.range(0, type.fields().size()).filter(i -> wanted.test(type.fields().get(i))).toArray();
  }

  private static boolean fits(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME_BYTES;
  }

  /** Returns the rates since the previous event of the series; empty for its first event and for one that is late. */
  Optional<NewEvent> next(BatchReader event, Samples samples) {
    Object[] values = new Object[texts.length + numbers.length];
    StringBuilder series = new StringBuilder(event.type().hashHex());
    int bytes = 0;
    for (int i = 0; i < texts.length; i++) {
      bytes += event.valueLength(texts[i]);
      if (bytes > MAX_TEXT_BYTES) {
        return Optional.empty();
      }
      String text = event.getString(texts[i]);
      values[i] = text;
      series.append(' ').append(text.length()).append(' ').append(text);
    }
    List<Field> fields = event.type().fields();
    long[] now = new long[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      boolean isFloating = fields.get(numbers[i]).type().isFloating();
      now[i] = isFloating ? Double.doubleToLongBits(event.getDouble(numbers[i])) : event.getLong(numbers[i]);
    }
    Sample previous = samples.replace(series.toString(), new Sample(event.timeNs(), now));
    if (previous == null || previous.timeNs() >= event.timeNs()) {
      return Optional.empty();
    }
    double seconds = (event.timeNs() - previous.timeNs()) / 1e9;
    for (int i = 0; i < numbers.length; i++) {
      long before = previous.values()[i];
      boolean isFloating = fields.get(numbers[i]).type().isFloating();
      double change =
          isFloating ? Double.longBitsToDouble(now[i]) - Double.longBitsToDouble(before) : (double) (now[i] - before);
      values[texts.length + i] = change / seconds;
    }
    return Optional.of(new NewEvent(rate, event.timeNs(), event.thread(), values));
  }
}
