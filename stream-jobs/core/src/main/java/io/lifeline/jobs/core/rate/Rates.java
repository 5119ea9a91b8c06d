package io.lifeline.jobs.core.rate;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.FieldSelector;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.derive.NewEvent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The rates of one event type.
 *
 * @param texts indices of the fields whose values identify a series
 * @param numbers indices of the selected fields
 * @param series a letter per number, and what identifies type and fields beyond the hash, which can be forged
 * @param rate the type of the new events
 */
record Rates(int[] texts, int[] numbers, String series, EventType rate) {

  private static final char FLOATING = 'f';
  private static final char INTEGRAL = 'i';

  private static final int MAX_NAME_BYTES = 255;
  private static final int MAX_TEXT_BYTES = 1000;

  /** Returns empty if no field of the type is selected, or, which is counted, if the names would be too long. */
  static Optional<Rates> of(EventType type, List<FieldSelector> selectors, Metrics.Counter tooLong) {
    int[] texts = indices(type, field -> field.type() == FieldType.STRING);
    int[] numbers =
        indices(
            type,
            field ->
                (field.type().isFloating() || field.type().isIntegral() && field.type() != FieldType.BOOL)
                    && selectors.stream().anyMatch(selector -> selector.matches(type.name(), field.name())));
    EventType.Builder rate = EventType.named(type.name() + ".rate").level(type.level());
    boolean fits = fits(type.name() + ".rate");
    StringBuilder series = new StringBuilder();
    for (int text : texts) {
      rate.field(type.fields().get(text).name(), FieldType.STRING, type.fields().get(text).unit());
    }
    for (int number : numbers) {
      String unit = type.fields().get(number).unit() + "/s";
      fits &= fits(unit);
      series.append(type.fields().get(number).type().isFloating() ? FLOATING : INTEGRAL);
      rate.field(type.fields().get(number).name(), FieldType.F64, unit);
    }
    if (numbers.length == 0) {
      return Optional.empty();
    }
    if (!fits) {
      tooLong.add(1);
      return Optional.empty();
    }
    series.append(Arrays.toString(numbers)).append(type.hashHex());
    return Optional.of(new Rates(texts, numbers, series.toString(), rate.build()));
  }

  private static int[] indices(EventType type, Predicate<Field> wanted) {
    return IntStream.range(0, type.fields().size()).filter(i -> wanted.test(type.fields().get(i))).toArray();
  }

  private static boolean fits(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME_BYTES;
  }

  /**
   * Returns the rates since the previous event of the series. Empty for the first event, and for one that is not later
   * than the previous one: a spool sends late, and clocks are set.
   */
  Optional<NewEvent> next(BatchReader event, Samples samples) {
    Object[] values = new Object[texts.length + numbers.length];
    StringBuilder name = new StringBuilder(series);
    int bytes = 0;
    for (int i = 0; i < texts.length; i++) {
      bytes += event.valueLength(texts[i]);
      if (bytes > MAX_TEXT_BYTES) {
        return Optional.empty();
      }
      String text = event.getString(texts[i]);
      values[i] = text;
      name.append(' ').append(text.length()).append(' ').append(text);
    }
    long[] now = new long[1 + numbers.length];
    now[0] = event.timeNs();
    for (int i = 0; i < numbers.length; i++) {
      now[1 + i] =
          isFloating(i) ? Double.doubleToLongBits(event.getDouble(numbers[i])) : event.getLong(numbers[i]);
    }
    long[] before = samples.replace(name.toString(), now);
    if (before == null || now[0] <= before[0] || now[0] - before[0] < 0) {
      return Optional.empty();
    }
    double seconds = (now[0] - before[0]) / 1e9;
    for (int i = 0; i < numbers.length; i++) {
      long from = before[1 + i];
      long to = now[1 + i];
      double change = isFloating(i) ? Double.longBitsToDouble(to) - Double.longBitsToDouble(from) : to - from;
      // There are many NaNs, and which one comes of infinities depends on the processor.
      values[texts.length + i] = Double.isNaN(change) ? Double.NaN : change / seconds;
    }
    return Optional.of(new NewEvent(rate, event.timeNs(), event.thread(), values));
  }

  private boolean isFloating(int number) {
    return series.charAt(number) == FLOATING;
  }
}
