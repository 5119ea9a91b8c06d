package io.lifeline.console.web;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.console.access.Role;
import io.lifeline.console.archive.Answer;
import io.lifeline.console.archive.Query;
import io.lifeline.console.archive.Question;
import io.lifeline.console.archive.QuestionException;
import io.lifeline.console.archive.Series;
import io.lifeline.console.index.Span;
import io.lifeline.jobs.archive.ArchiveReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What is asked of the archive. */
public final class ArchiveOperations implements Operations {
  private static final int MOST_ROWS = 10_000;
  private static final int ROWS = 1000;
  private static final int MOST_COLUMNS = 20_000;
  private static final Parameter<String> TYPE = Parameter.text("type", "name of an event type").mandatory();
  private static final Parameter<String> FIELD = Parameter.text("field", "name of a numeric field").mandatory();

  static final Map<String, Question> QUESTIONS = Map.of(
      Question.SQL, ArchiveOperations::rows,
      "series", ArchiveOperations::values,
      "series/names", (reader, none) -> new Names(Series.names(reader)),
      "sql/schema", (reader, none) -> schema(reader));

  private final ArchiveQuestions archive;

  public ArchiveOperations(ArchiveQuestions archive) {
    this.archive = archive;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.post("/sql", "Run a query on the archive; with Accept: text/csv the answer is CSV", Sql.class,
            Query.Result.class, 200, this::sql).needs(Role.VIEW),
        Operation.get("/series/names", "The numeric fields", Names.class,
            call -> archive.askShared("series/names")),
        Operation.get("/series", "The values of a field over time", Series.Values.class, this::series, TYPE, FIELD,
            Parameters.FROM, Parameters.TO, Parameters.WIDTH),
        Operation.get("/sql/schema", "Tables and columns", Schema.class,
            call -> archive.askShared("sql/schema")));
  }

  /** @param limit number of rows; null for 1,000 */
  record Sql(String sql, Integer limit) {}

  private Object sql(Call call) {
    Sql request = call.body(Sql.class);
    if (request.sql() == null || request.sql().isBlank()) {
      throw new Problem(400, "sql is missing: a query is expected");
    }
    int limit = request.limit() == null ? ROWS : request.limit();
    if (limit < 1 || limit > MOST_ROWS) {
      throw new Problem(400, "limit must be from 1 to " + MOST_ROWS);
    }
    return archive.ask(call, Question.SQL,
        Map.of("sql", request.sql(), "limit", limit, "csv", call.accepts("text/csv")));
  }

  private static Object rows(ArchiveReader reader, JsonNode asked) throws SQLException {
    Query.Result result = Query.run(reader, asked.path("sql").asText(), asked.path("limit").asInt());
    return asked.path("csv").asBoolean()
        ? new Answer(200, "text/csv; charset=utf-8", csv(result).getBytes(StandardCharsets.UTF_8)) : result;
  }

  record Table(String name, List<Query.Column> columns) {}

  record Schema(List<Table> tables) {}

  private static Schema schema(ArchiveReader reader) throws SQLException {
    Map<String, List<Query.Column>> tables = new LinkedHashMap<>();
    try (var query = reader.prepare("SELECT table_name, column_name, data_type FROM information_schema.columns"
        + " WHERE table_schema NOT IN ('information_schema', 'pg_catalog')"
        + " ORDER BY table_name, ordinal_position LIMIT " + MOST_COLUMNS); var rows = query.executeQuery()) {
      while (rows.next()) {
        tables.computeIfAbsent(rows.getString(1), any -> new ArrayList<>())
            .add(new Query.Column(rows.getString(2), rows.getString(3).toLowerCase(Locale.ROOT)));
      }
    }
    return new Schema(tables.entrySet().stream().map(table -> new Table(table.getKey(), table.getValue())).toList());
  }

  record Names(List<Series.Name> series) {}

  private Object series(Call call) {
    Span span = Parameters.span(call);
    return archive.ask(call, "series", Map.of("type", call.get(TYPE), "field", call.get(FIELD), "from", span.from(),
        "to", span.to(), "parts", call.get(Parameters.WIDTH)));
  }

  private static Object values(ArchiveReader reader, JsonNode asked) throws SQLException, QuestionException {
    String type = asked.path("type").asText();
    String field = asked.path("field").asText();
    if (!reader.has(type, field)) {
      throw new QuestionException(404, "the archive has no field " + field + " of a type " + type);
    }
    return Series.of(reader, type, field, new Span(asked.path("from").asLong(), asked.path("to").asLong()),
        asked.path("parts").asInt());
  }

  private static String csv(Query.Result result) {
    StringWriter csv = new StringWriter();
    line(csv, result.columns().stream().map(column -> (Object) column.name()).toList());
    result.rows().forEach(row -> line(csv, row));
    return csv.toString();
  }

  private static void line(StringWriter csv, List<Object> values) {
    for (int i = 0; i < values.size(); i++) {
      String text = values.get(i) == null ? "" : values.get(i).toString();
      boolean quoted = text.isEmpty() ? values.get(i) != null : text.chars().anyMatch(c -> ",\"\r\n".indexOf(c) >= 0);
      csv.append(i == 0 ? "" : ",").append(quoted ? '"' + text.replace("\"", "\"\"") + '"' : text);
    }
    csv.append("\r\n");
  }
}
