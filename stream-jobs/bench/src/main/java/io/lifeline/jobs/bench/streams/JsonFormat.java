package io.lifeline.jobs.bench.streams;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.lifeline.jobs.bench.Backlog;
import io.lifeline.jobs.bench.Backlog.Event;
import io.lifeline.jobs.core.JsonWriter;
import java.io.IOException;

/** JSON, read by Jackson's streaming parser without data binding; the type is first, so that parsing can stop there. */
final class JsonFormat implements Format {

  private final JsonFactory factory = new JsonFactory();
  private final JsonWriter writer = new JsonWriter();

  @Override
  public byte[] encode(Event event) {
    return writer
        .reset()
        .beginObject()
        .field("type", event.type())
        .field("time_ns", event.timeNs())
        .field("host", Backlog.HOST)
        .field("program", Backlog.PROGRAM)
        .field("my_int", event.myInt())
        .field("my_float", (double) event.myFloat())
        .endObject()
        .toBytes();
  }

  @Override
  public Event decodeSelected(byte[] message) {
    long timeNs = 0;
    int myInt = 0;
    float myFloat = 0;
    try (JsonParser json = factory.createParser(message)) {
      json.nextToken();
      for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
        json.nextToken();
        switch (name) {
          case "type" -> {
            if (!json.getText().equals(Backlog.SELECTED)) {
              return null;
            }
          }
          case "time_ns" -> timeNs = json.getLongValue();
          case "my_int" -> myInt = json.getIntValue();
          case "my_float" -> myFloat = json.getFloatValue();
          default -> json.skipChildren();
        }
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("no event", e);
    }
    return new Event(timeNs, Backlog.SELECTED, myInt, myFloat);
  }
}
