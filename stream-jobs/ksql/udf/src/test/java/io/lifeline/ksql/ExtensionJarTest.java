package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;

import io.confluent.ksql.function.udaf.Udaf;
import io.confluent.ksql.function.udaf.UdafDescription;
import io.confluent.ksql.function.udaf.UdafFactory;
import io.confluent.ksql.function.udf.Udf;
import io.confluent.ksql.function.udf.UdfDescription;
import io.confluent.ksql.function.udf.UdfParameter;
import io.confluent.ksql.function.udtf.Udtf;
import io.confluent.ksql.function.udtf.UdtfDescription;
import io.github.classgraph.ClassGraph;
import io.github.classgraph.ScanResult;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.connect.data.Struct;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Loads and inspects the packaged jar as ksqlDB does. A function that breaks one of ksqlDB's rules is skipped there
 * with only a log line, or stops the server.
 */
class ExtensionJarTest {

  private static final Path JAR = Path.of(System.getProperty("lifeline.ksql.jar"));

  /** Java 11, the oldest version that runs a ksqlDB with BYTES. */
  private static final int NEWEST_CLASS_FILE = 55;

  /** Types that ksqlDB accepts as a parameter of a function or as a literal of a factory. */
  private static final Set<Class<?>> PARAMETERS =
      Set.of(
          int.class, long.class, double.class, boolean.class, Integer.class, Long.class, Double.class, Boolean.class,
          BigDecimal.class, String.class, Struct.class, List.class, Map.class, ByteBuffer.class);

  private static ExtensionLoader loader;
  private static List<Class<?>> scalars;
  private static List<Class<?>> tables;
  private static List<Class<?>> aggregates;

  @BeforeAll
  static void scan() throws IOException {
    loader = new ExtensionLoader(JAR);
    try (ScanResult scan =
        new ClassGraph().overrideClassLoaders(loader).ignoreParentClassLoaders().enableAnnotationInfo().scan()) {
      scalars = annotated(scan, UdfDescription.class);
      tables = annotated(scan, UdtfDescription.class);
      aggregates = annotated(scan, UdafDescription.class);
    }
  }

  @AfterAll
  static void close() throws IOException {
    loader.close();
  }

  @Test
  void holdsAllFunctionsEachUnderANameOfItsOwn() {
    assertThat(names())
        .containsExactlyInAnyOrder(
            "lifeline_batch", "lifeline_time", "lifeline_nanos", "lifeline_unsigned", "lifeline_events",
            "lifeline_quantile");
  }

  @Test
  void bringsItsOwnCodecAndNeitherKsqlDbsNorKafkasClasses() throws Exception {
    assertThat(loader.loadClass("io.lifeline.codec.BatchReader").getClassLoader()).isSameAs(loader);
    try (JarFile jar = new JarFile(JAR.toFile())) {
      assertThat(jar.stream().map(JarEntry::getName))
          .noneMatch(name -> name.startsWith("io/confluent/") || name.startsWith("org/apache/kafka/"))
          .noneMatch(name -> name.startsWith("org/slf4j/"));
    }
  }

  @Test
  void runsOnJava11() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      for (JarEntry entry : jar.stream().filter(e -> e.getName().endsWith(".class")).collect(Collectors.toList())) {
        DataInputStream in = new DataInputStream(jar.getInputStream(entry));
        in.skipNBytes(6);
        assertThat(in.readUnsignedShort()).as(entry.getName()).isLessThanOrEqualTo(NEWEST_CLASS_FILE);
      }
    }
  }

  @Test
  void canMakeEveryScalarAndTableFunction() throws Exception {
    for (Class<?> function : (Iterable<Class<?>>) Stream.concat(scalars.stream(), tables.stream())::iterator) {
      assertThat(Modifier.isPublic(function.getModifiers())).as(function.getName()).isTrue();
      assertThat(function.getConstructor().newInstance()).isNotNull();
    }
  }

  @Test
  void namesEveryParameterAndGivesItATypeOfSql() {
    methods().forEach(
        method -> {
          for (Parameter parameter : method.getParameters()) {
            UdfParameter annotation = parameter.getAnnotation(UdfParameter.class);
            assertThat(parameter.isNamePresent() || !annotation.value().isEmpty()).as(method.toString()).isTrue();
            assertThat(parameter.getType()).as(method.toString()).isIn(PARAMETERS);
          }
        });
  }

  @Test
  void returnsListsFromTableFunctions() {
    assertThat(methods(tables, Udtf.class))
        .isNotEmpty()
        .allSatisfy(
            method -> {
              assertThat(method.getReturnType()).isEqualTo(List.class);
              assertThat(method.getGenericReturnType()).isInstanceOf(ParameterizedType.class);
            });
  }

  @Test
  void makesAggregatesByStaticFactories() {
    assertThat(methods(aggregates, UdafFactory.class))
        .isNotEmpty()
        .allSatisfy(
            method -> {
              assertThat(Modifier.isStatic(method.getModifiers())).isTrue();
              assertThat(method.getReturnType()).isEqualTo(Udaf.class);
              for (Type type : ((ParameterizedType) method.getGenericReturnType()).getActualTypeArguments()) {
                assertThat(type).isIn(PARAMETERS);
              }
            });
  }

  /** ksqlDB distinguishes overloads by their parameter types; two equal ones stop the server. */
  @Test
  void hasNoTwoFunctionsOfOneNameThatTakeTheSame() {
    for (Class<?> function : (Iterable<Class<?>>) all()::iterator) {
      assertThat(methods(List.of(function), Udf.class, Udtf.class, UdafFactory.class))
          .extracting(method -> List.of(method.getParameterTypes()))
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void declaresForEventsWhatItReturns() throws Exception {
    Method events = tables.get(0).getMethod("events", ByteBuffer.class);
    Object function = tables.get(0).getConstructor().newInstance();
    List<?> rows = (List<?>) events.invoke(function, Samples.mixed());
    assertThat(rows).hasSize(2);
    assertThat(rows)
        .allSatisfy(
            row ->
                assertThat(((Struct) row).schema()).isEqualTo(SqlTypes.parse(events.getAnnotation(Udtf.class).schema())));
  }

  @Test
  void declaresForTheHeaderWhatItReturns() throws Exception {
    Class<?> type = loader.loadClass("io.lifeline.ksql.BatchFunction");
    Method header = type.getMethod("header", ByteBuffer.class);
    Struct struct = (Struct) header.invoke(type.getConstructor().newInstance(), Samples.mixed());
    assertThat(struct.schema()).isEqualTo(SqlTypes.parse(header.getAnnotation(Udf.class).schema()));
  }

  private static List<Class<?>> annotated(ScanResult scan, Class<? extends Annotation> annotation) {
    return List.copyOf(scan.getClassesWithAnnotation(annotation.getName()).loadClasses());
  }

  private static Stream<Class<?>> all() {
    return Stream.of(scalars, tables, aggregates).flatMap(List::stream);
  }

  private static List<String> names() {
    return Stream.of(
            scalars.stream().map(type -> type.getAnnotation(UdfDescription.class).name()),
            tables.stream().map(type -> type.getAnnotation(UdtfDescription.class).name()),
            aggregates.stream().map(type -> type.getAnnotation(UdafDescription.class).name()))
        .flatMap(found -> found)
        .collect(Collectors.toList());
  }

  private static List<Method> methods() {
    return methods(all().collect(Collectors.toList()), Udf.class, Udtf.class, UdafFactory.class);
  }

  @SafeVarargs
  private static List<Method> methods(List<Class<?>> types, Class<? extends Annotation>... annotations) {
    return types.stream()
        .flatMap(type -> Arrays.stream(type.getMethods()))
        .filter(method -> Arrays.stream(annotations).anyMatch(method::isAnnotationPresent))
        .collect(Collectors.toList());
  }
}
