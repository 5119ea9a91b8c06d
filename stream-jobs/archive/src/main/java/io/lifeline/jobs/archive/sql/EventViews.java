package io.lifeline.jobs.archive.sql;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ColumnNames;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.archive.parquet.Manifest;
import io.lifeline.jobs.archive.parquet.Slots;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Generates the SQL of the views over events: one per event type, and one over all of them. */
final class EventViews {
  private static final String ORIGIN = "host, program, pid, thread, incarnation, route, sequence, event_index";
  private static final String NO_EVENTS =
      "SELECT NULL::TIMESTAMP_NS AS ts, '' AS type, '' AS level, '' AS host, '' AS program, 0::UINTEGER AS pid,"
          + " 0::UBIGINT AS thread, '' AS incarnation, 0::USMALLINT AS route, 0::UBIGINT AS sequence,"
          + " 0::UINTEGER AS event_index, '' AS id, NULL::JSON AS fields WHERE false";
  /** The path of each object through event types over time, by its ID; based on the view {@code events}. */
  static final String LIFELINES = "SELECT id, row_number() OVER path AS step, ts, epoch_ns(ts) AS ts_ns, type, level, "
      + ORIGIN + ", epoch_ns(ts) - lag(epoch_ns(ts)) OVER path AS since_previous_ns,"
      + " epoch_ns(ts) - first_value(epoch_ns(ts)) OVER path AS since_first_ns, fields FROM events WHERE id IS NOT NULL"
      + " WINDOW path AS (PARTITION BY id ORDER BY ts, incarnation, route, sequence, event_index)";

  private static final Set<FieldType> NUMBERS =
      Set.of(FieldType.I32, FieldType.I64, FieldType.F32, FieldType.F64, FieldType.U32, FieldType.U64);

  /** Files with the events of one type. */
  private record Placed(TypeEntry type, List<String> ownFiles, List<String> sharedFiles) {
    Placed(TypeEntry type) {
      this(type, new ArrayList<>(), new ArrayList<>());
    }
  }

  /** A column of a type: its name and the SQL for its value in the type's own files and in shared ones. */
  private record ViewColumn(String name, FieldType type, String own, String shared) {}

  private final Map<String, Placed> byId = new LinkedHashMap<>();
  /** Lower-case names come first, so that DISK.READ.END cannot take the name disk.read.end. */
  private final Map<String, List<Placed>> byName =
      new TreeMap<>(Comparator.comparing(EventViews::hasUpperCase).thenComparing(Comparator.naturalOrder()));

  private final TimeSpan span;

  /**
   * @param paths path of each data file
   * @param span only files that may have events of this time are read
   */
  EventViews(List<Manifest> manifests, Map<String, String> paths, TimeSpan span) {
    this.span = span;
    for (Manifest manifest : manifests) {
      for (TypeEntry type : manifest.types()) {
        if (!byId.containsKey(type.id())) {
          Placed placed = new Placed(type);
          byId.put(type.id(), placed);
          byName.computeIfAbsent(type.name(), name -> new ArrayList<>()).add(placed);
        }
      }
      for (Manifest.FileEntry file : manifest.files()) {
        for (String id : file.mayHave(span) ? file.types() : List.<String>of()) {
          Placed placed = byId.get(id);
          (file.kind() == Manifest.Kind.TYPE ? placed.ownFiles : placed.sharedFiles).add(paths.get(file.name()));
        }
      }
    }
  }

  /**
   * Returns the name of each event type's view, by the type's name: the same, unless another view has it (SQL names are
   * case-insensitive); then {@code event:} is prepended, repeatedly if needed.
   *
   * @param taken lower-case names of the other views
   */
  Map<String, String> viewNames(Set<String> taken) {
    Set<String> used = new HashSet<>(taken);
    Map<String, String> views = new LinkedHashMap<>();
    for (String type : byName.keySet()) {
      String view = type;
      while (!used.add(view.toLowerCase(Locale.ROOT))) {
        view = "event:" + view;
      }
      views.put(type, view);
    }
    return views;
  }

  /** Returns the view of one event type, of the events in the span. */
  String ofType(String name) {
    return limited(typeView(byName.get(name)));
  }

  private String limited(String view) {
    return span.equals(TimeSpan.ALL) ? view : "SELECT * FROM (" + view + ") WHERE " + span.condition();
  }

  /** Returns the files of one event type, for other programs; null if the type does not exist. */
  TypeFiles filesOf(String name) {
    List<Placed> versions = byName.get(name);
    return versions == null ? null : new TypeFiles(
        versions.stream().flatMap(version -> version.ownFiles.stream()).toList(),
        versions.stream().flatMap(version -> version.sharedFiles.stream()).distinct().toList(),
        limited(typeView(versions)));
  }

  private static boolean hasUpperCase(String name) {
    return !name.equals(name.toLowerCase(Locale.ROOT));
  }

  private static String typeView(List<Placed> versions) {
    Map<String, String> casts = casts(versions);
    List<String> legs = new ArrayList<>();
    for (Placed version : versions) {
      List<ViewColumn> columns = columns(version.type);
      String level = Sql.literal(version.type.level()) + " AS level";
      forEachLeg(version, columns, (values, from) -> {
        StringBuilder leg = new StringBuilder("SELECT ts, ");
        for (int i = 0; i < columns.size(); i++) {
          String name = columns.get(i).name();
          String cast = casts.getOrDefault(name.toLowerCase(Locale.ROOT), "");
          leg.append(values.get(i)).append(cast).append(" AS ").append(Sql.identifier(name)).append(", ");
        }
        legs.add(leg + ORIGIN + ", " + level + from);
      });
    }
    return String.join(" UNION ALL BY NAME ", legs);
  }

  /** Returns all versions of all types. */
  List<TypeEntry> types() {
    return byId.values().stream().map(placed -> placed.type).toList();
  }

  /** Returns the ids of all versions of the types with these names. */
  Set<String> ids(Predicate<String> names) {
    return byId.values().stream().map(placed -> placed.type).filter(type -> names.test(type.name()))
        .map(TypeEntry::id).collect(Collectors.toSet());
  }

  /** Returns the view over all types, of the events in the span, also if there are none. */
  String all() {
    List<String> legs = new ArrayList<>();
    Set<String> sharedFiles = new LinkedHashSet<>();
    byName.forEach((name, versions) -> versions.forEach(version -> {
      sharedFiles.addAll(version.sharedFiles);
      if (!version.ownFiles.isEmpty()) {
        legs.add(leg(name, version, ""));
      }
    }));
    if (!sharedFiles.isEmpty()) {
      legs.add("SELECT ts, name AS type, level, " + ORIGIN + ", id, fields FROM read_parquet("
          + Sql.literals(List.copyOf(sharedFiles)) + ")");
    }
    return limited(legs.isEmpty() ? NO_EVENTS : String.join(" UNION ALL ", legs));
  }

  /** Returns all events of these versions of types in the files that are read, with the ids in {@code type_id}. */
  String versions(Set<String> ids) {
    List<String> legs = new ArrayList<>();
    Set<String> sharedFiles = new LinkedHashSet<>();
    for (Placed version : byId.values()) {
      if (ids.contains(version.type.id())) {
        sharedFiles.addAll(version.sharedFiles);
        if (!version.ownFiles.isEmpty()) {
          legs.add(leg(version.type.name(), version, ", " + Sql.literal(version.type.id()) + " AS type_id"));
        }
      }
    }
    if (!sharedFiles.isEmpty()) {
      legs.add("SELECT ts, name AS type, level, " + ORIGIN + ", id, fields, type AS type_id FROM read_parquet("
          + Sql.literals(List.copyOf(sharedFiles)) + ")"
          + (ids.size() == byId.size() ? "" : " WHERE type IN " + Sql.literals(List.copyOf(ids))));
    }
    return legs.isEmpty() ? "SELECT *, '' AS type_id FROM (" + NO_EVENTS + ")" : String.join(" UNION ALL ", legs);
  }

  private static String leg(String name, Placed version, String more) {
    List<ViewColumn> columns = columns(version.type);
    int idField = version.type.idField();
    String id = idField < 0 ? "NULL" : columns.get(idField).own();
    String fields = columns.stream()
        .map(column -> Sql.literal(column.name()) + ": " + jsonValue(column.type(), column.own()))
        .collect(Collectors.joining(", ", "to_json({", "})"));
    return "SELECT ts, " + Sql.literal(name) + " AS type, " + Sql.literal(version.type.level()) + " AS level, " + ORIGIN
        + ", " + id + "::VARCHAR AS id, " + (columns.isEmpty() ? "'{}'::JSON" : fields) + " AS fields" + more
        + " FROM read_parquet(" + Sql.literals(version.ownFiles) + ")";
  }

  /** Returns the value as JSON, which represents infinities, NaN and bytes as text. */
  private static String jsonValue(FieldType type, String value) {
    if (type.isFloating()) {
      // to_json makes a DOUBLE of a FLOAT, and 0.10000000149011612 of 0.1.
      String number = type == FieldType.F32 ? value + "::VARCHAR::JSON" : "to_json(" + value + ")";
      return "CASE WHEN isfinite(" + value + ") THEN " + number + " ELSE to_json(" + value + "::VARCHAR) END";
    }
    return type == FieldType.BYTES ? "lower(hex(" + value + "))" : value;
  }

  private interface Leg {
    void add(List<String> values, String from);
  }

  private static void forEachLeg(Placed placed, List<ViewColumn> columns, Leg leg) {
    if (!placed.ownFiles.isEmpty()) {
      leg.add(columns.stream().map(ViewColumn::own).toList(),
          " FROM read_parquet(" + Sql.literals(placed.ownFiles) + ")");
    }
    if (!placed.sharedFiles.isEmpty()) {
      leg.add(columns.stream().map(ViewColumn::shared).toList(),
          " FROM read_parquet(" + Sql.literals(placed.sharedFiles) + ") WHERE type = "
              + Sql.literal(placed.type.id()));
    }
    if (placed.ownFiles.isEmpty() && placed.sharedFiles.isEmpty()) { // the view has the columns even so
      leg.add(columns.stream().map(column -> "NULL::" + Sql.type(column.type())).toList(),
          " FROM (" + NO_EVENTS + ")");
    }
  }

  private static List<ViewColumn> columns(TypeEntry type) {
    List<String> names = ColumnNames.of(type);
    List<String> slots = Slots.columns(type.fieldTypes());
    List<ViewColumn> columns = new ArrayList<>();
    for (int i = 0; i < slots.size(); i++) {
      FieldType fieldType = type.fieldTypes().get(i);
      String own = Sql.identifier(names.get(i));
      columns.add(new ViewColumn(names.get(i), fieldType, own, Slots.value(fieldType, slots.get(i))));
    }
    for (int i = 0; i < type.constants().size(); i++) {
      TypeEntry.ConstantEntry constant = type.constants().get(i);
      String value = constant.fieldType() == FieldType.BYTES
          ? "unhex(" + Sql.literal(constant.value()) + ")"
          : Sql.literal(constant.value()) + "::" + Sql.type(constant.fieldType());
      columns.add(new ViewColumn(names.get(slots.size() + i), constant.fieldType(), value, value));
    }
    return columns;
  }

  /**
   * Returns what all versions' values of a column are cast to, by the column's lower-case name; columns that are not
   * here need no cast. Numbers and other types can only be combined as text. Integers and floats are combined as
   * DOUBLE: the database itself would choose FLOAT for them, which cannot hold integers above 2^24.
   */
  private static Map<String, String> casts(List<Placed> versions) {
    Map<String, Set<FieldType>> types = new TreeMap<>();
    for (Placed version : versions) {
      for (ViewColumn column : columns(version.type)) {
        types.computeIfAbsent(column.name().toLowerCase(Locale.ROOT), name -> EnumSet.noneOf(FieldType.class))
            .add(column.type());
      }
    }
    Map<String, String> casts = new HashMap<>();
    types.forEach((name, all) -> {
      if (all.size() > 1 && !NUMBERS.containsAll(all)) {
        casts.put(name, "::VARCHAR");
      } else if (all.size() > 1 && all.stream().anyMatch(FieldType::isFloating)) {
        casts.put(name, "::DOUBLE");
      }
    });
    return casts;
  }
}
