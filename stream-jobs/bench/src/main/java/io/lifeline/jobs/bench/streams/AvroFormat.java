package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog;
import io.lifeline.jobs.bench.Backlog.Event;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.util.Utf8;

/** Avro's binary encoding with a schema known to both sides; record, decoder and strings are reused. */
final class AvroFormat implements Format {

  private static final Schema SCHEMA =
      SchemaBuilder.record("Event")
          .fields()
          .requiredString("type")
          .requiredLong("time_ns")
          .requiredString("host")
          .requiredString("program")
          .requiredInt("my_int")
          .requiredFloat("my_float")
          .endRecord();
  private static final Utf8 SELECTED = new Utf8(Backlog.SELECTED);

  private final GenericDatumWriter<GenericRecord> writer = new GenericDatumWriter<>(SCHEMA);
  private final GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(SCHEMA);
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private BinaryEncoder encoder;
  private BinaryDecoder decoder;
  private GenericRecord read;

  @Override
  public byte[] encode(Event event) {
    GenericRecord row = new GenericData.Record(SCHEMA);
    row.put(0, event.type());
    row.put(1, event.timeNs());
    row.put(2, Backlog.HOST);
    row.put(3, Backlog.PROGRAM);
    row.put(4, event.myInt());
    row.put(5, event.myFloat());
    bytes.reset();
    encoder = EncoderFactory.get().binaryEncoder(bytes, encoder);
    try {
      writer.write(row, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new IllegalStateException("a byte array refused to grow", e);
    }
    return bytes.toByteArray();
  }

  @Override
  public Event decodeSelected(byte[] message) {
    decoder = DecoderFactory.get().binaryDecoder(message, decoder);
    try {
      read = reader.read(read, decoder);
    } catch (IOException e) {
      throw new IllegalArgumentException("no event", e);
    }
    return SELECTED.equals(read.get(0))
        ? new Event((long) read.get(1), Backlog.SELECTED, (int) read.get(4), (float) read.get(5))
        : null;
  }
}
