package io.lifeline.connect.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.cases.Hostile;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.json.JsonConverter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BatchConverterTest {

  private static final Path VECTORS = Path.of("..", "..", "schemas", "vectors");
  private static final String TOPIC = "lifeline.batches";
  private static final EventType READ =
      EventType.named("disk.read.end")
          .field("id", FieldType.U64)
          .field("rate", FieldType.F32, "B/s")
          .field("file", FieldType.STRING)
          .build();

  private final BatchConverter converter = converter(Map.of());

  /** Hostile ones, too: they are legal. */
  static Stream<Path> valid() {
    return Stream.concat(batches("valid"), hostile());
  }

  static Stream<Path> hostile() {
    return batches("hostile");
  }

  static Stream<Path> invalid() {
    return batches("invalid");
  }

  /** Those of which the meaning decides every byte. */
  static Stream<Path> decidedByMeaning() throws IOException {
    ObjectMapper json = new ObjectMapper();
    ObjectNode index = (ObjectNode) json.readTree(VECTORS.resolve("index.json").toFile());
    index.setAll((ObjectNode) json.readTree(VECTORS.resolve("hostile.json").toFile()));
    return valid().filter(file -> index.path(name(file)).path("encode").asText().equals("identical"));
  }

  @ParameterizedTest
  @MethodSource("valid")
  void everyValidBatchBecomesAStructOfTheSchema(Path file) {
    Struct batch = struct(bytes(file));
    batch.validate();
    assertThat(batch.schema()).isEqualTo(BatchSchema.BATCH);
  }

  @ParameterizedTest
  @MethodSource("valid")
  void whatIsEncodedAgainMeansTheSame(Path file) {
    Struct batch = struct(bytes(file));
    assertThat(struct(converter.fromConnectData(TOPIC, BatchSchema.BATCH, batch))).isEqualTo(batch);
  }

  @ParameterizedTest
  @MethodSource("decidedByMeaning")
  void whatIsEncodedAgainHasTheSameBytesWhereTheMeaningDecidesThem(Path file) {
    assertThat(converter.fromConnectData(TOPIC, BatchSchema.BATCH, struct(bytes(file)))).isEqualTo(bytes(file));
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void anInvalidBatchIsADataExceptionWithItsCode(Path file) throws IOException {
    String code = new ObjectMapper().readTree(sibling(file)).path("code").asText();
    assertThatThrownBy(() -> converter.toConnectData(TOPIC, bytes(file)))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith("this is no batch: " + code + " at ");
  }

  /** The bombs, the thousands of types, as many events as fit. */
  @Test
  void hostileBatchesWithoutMeasureAreConvertedThereAndBackOrRefusedInBoundedMemory() throws Exception {
    List<Hostile> corpus = Hostile.made("connect");
    assertThat(Hostile.peakMemory(() -> corpus.forEach(this::judge))).isLessThan(Hostile.MAX_MEMORY);
  }

  private void judge(Hostile hostile) {
    Map<String, Integer> outcomes = new TreeMap<>();
    for (byte[] bytes : hostile.batches()) {
      try {
        Struct batch = struct(bytes);
        assertThat(struct(converter.fromConnectData(TOPIC, BatchSchema.BATCH, batch)).equals(batch)).isTrue();
        outcomes.merge("accepted", 1, Integer::sum);
      } catch (DataException e) {
        outcomes.merge(e.getMessage().replaceAll("this is no batch: (\\w+) at .*", "$1"), 1, Integer::sum);
      }
      byte[] honest = reads("honest");
      assertThat(converter.fromConnectData(TOPIC, BatchSchema.BATCH, struct(honest))).isEqualTo(honest);
    }
    assertThat(outcomes).as(hostile.name()).isEqualTo(hostile.due());
  }

  @Test
  void aFieldHasItsValueUnderItsName() {
    Struct event = struct(reads("data/1")).<Struct>getArray("events").get(0);
    assertThat(event.getString("type")).isEqualTo("disk.read.end");
    assertThat(event.getInt64("time_ns")).isEqualTo(1_000);
    Map<String, Struct> fields = event.getMap("fields");
    assertThat(fields.get("id").getInt64("integer")).isEqualTo(7);
    assertThat(fields.get("rate").getFloat32("f32")).isEqualTo(0.5f);
    assertThat(fields.get("file").getString("string")).isEqualTo("data/1");
  }

  @Test
  void aStringThatIsNoUtf8KeepsItsBytes() {
    byte[] batch = reads(new byte[] {'a', (byte) 0xe9});
    Struct file = struct(batch).<Struct>getArray("events").get(0).<String, Struct>getMap("fields").get("file");
    assertThat(file.getString("string")).isEqualTo("a\ufffd");
    assertThat(converter.fromConnectData(TOPIC, BatchSchema.BATCH, struct(batch))).isEqualTo(batch);
  }

  /** So that any sink that takes JSON can have batches, and a source can give them. */
  @Test
  void aBatchSurvivesConnectsJson() {
    try (JsonConverter json = new JsonConverter()) {
      json.configure(Map.of("schemas.enable", "true"), false);
      byte[] batch = reads("data/1");
      SchemaAndValue back = json.toConnectData(TOPIC, json.fromConnectData(TOPIC, BatchSchema.BATCH, struct(batch)));
      assertThat(converter.fromConnectData(TOPIC, back.schema(), back.value())).isEqualTo(batch);
    }
  }

  /** Connect's JSON has no infinities, and reads the text that it writes for them as 0. */
  static Stream<Path> hostileWithoutInfinities() {
    return hostile().filter(file -> !List.of("numbers", "small-numbers").contains(name(file)));
  }

  @ParameterizedTest
  @MethodSource("hostileWithoutInfinities")
  void whatConnectsJsonMakesOfAHostileBatchMeansTheSame(Path file) {
    try (JsonConverter json = new JsonConverter()) {
      json.configure(Map.of("schemas.enable", "true"), false);
      Struct batch = struct(bytes(file));
      SchemaAndValue back = json.toConnectData(TOPIC, json.fromConnectData(TOPIC, BatchSchema.BATCH, batch));
      assertThat(converter.fromConnectData(TOPIC, back.schema(), back.value())).isEqualTo(bytes(file));
    }
  }

  @Test
  void bytesPassUnchangedOnceTheyAreKnownToBeABatch() {
    byte[] batch = reads("data/1");
    BatchConverter checking = converter(Map.of("output", "bytes"));
    assertThat(checking.toConnectData(TOPIC, batch).value()).isSameAs(batch);
    assertThat(checking.fromConnectData(TOPIC, Schema.BYTES_SCHEMA, batch)).isSameAs(batch);
    assertThat(checking.fromConnectData(TOPIC, Schema.BYTES_SCHEMA, ByteBuffer.wrap(batch))).isEqualTo(batch);
    assertThatThrownBy(() -> checking.fromConnectData(TOPIC, Schema.BYTES_SCHEMA, new byte[] {1}))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("truncated");
  }

  @Test
  void aTombstoneStaysOne() {
    assertThat(converter.toConnectData(TOPIC, null)).isEqualTo(SchemaAndValue.NULL);
    assertThat(converter.fromConnectData(TOPIC, BatchSchema.BATCH, null)).isNull();
  }

  @Test
  void whatIsNeitherABatchNorBytesIsRefusedWithoutItsContent() {
    Schema other = SchemaBuilder.struct().name("other").field("secret", Schema.STRING_SCHEMA).build();
    Struct value = new Struct(other).put("secret", "hush");
    assertThatThrownBy(() -> converter.fromConnectData(TOPIC, other, value))
        .isInstanceOf(DataException.class)
        .hasMessage("BatchConverter writes io.lifeline.Batch and bytes, not Struct");
  }

  @Test
  void aStructThatIsNoLegalBatchIsRefused() {
    Struct batch = struct(reads("data/1")).put("sequence", 0L);
    assertThatThrownBy(() -> converter.fromConnectData(TOPIC, BatchSchema.BATCH, batch))
        .isInstanceOf(DataException.class)
        .hasMessage("this struct is no batch: sequences start at 1");
  }

  @Test
  void keysAreNotBatches() {
    assertThatThrownBy(() -> new BatchConverter().configure(Map.of(), true))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("use StringConverter");
  }

  @Test
  void anOutputThatThereIsNotIsRefused() {
    assertThatThrownBy(() -> converter(Map.of("output", "events")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("String must be one of: struct, bytes");
  }

  private Struct struct(byte[] batch) {
    return (Struct) converter.toConnectData(TOPIC, batch).value();
  }

  private static BatchConverter converter(Map<String, String> settings) {
    BatchConverter converter = new BatchConverter();
    converter.configure(settings, false);
    return converter;
  }

  private static byte[] reads(Object file) {
    return new BatchWriter().event(READ, 1_000, 7L, 0.5f, file).toByteArray();
  }

  private static Stream<Path> batches(String folder) {
    try (Stream<Path> files = Files.list(VECTORS.resolve(folder))) {
      return files.filter(file -> file.toString().endsWith(".llb")).sorted().toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(Path file) {
    String name = file.getFileName().toString();
    return name.substring(0, name.length() - ".llb".length());
  }

  private static File sibling(Path file) {
    return file.resolveSibling(name(file) + ".json").toFile();
  }
}
