package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.Sql;
import java.sql.SQLException;
import java.util.List;

/**
 * The origins of a roll's events, as a table that the rows of each file are joined with.
 *
 * <p>Texts are enumerations while there are few distinct ones: their numbers go into Parquet's dictionary directly,
 * while other texts are hashed again for each row. Readers see no difference.
 */
final class Origins implements AutoCloseable {
  private static final String TABLE = "origins";
  private static final List<String> TEXTS = List.of("host", "program", "incarnation");

  /** Every row group contains the whole enumeration, used or not, so a long one would be larger than the rows. */
  private static final int MAX_ENUMERATED = 1_000;

  private final DuckTables duck;

  /** Creates the table from the batches of a roll. */
  Origins(DuckTables duck, DuckTables.Table batches) throws SQLException {
    this.duck = duck;
    StringBuilder select = new StringBuilder("SELECT batch::INTEGER AS batch");
    for (String text : TEXTS) {
      select.append(", ").append(text);
      if (duck.number("SELECT count(DISTINCT " + text + ") FROM " + batches.sql()) <= MAX_ENUMERATED) {
        duck.execute("CREATE OR REPLACE TYPE " + type(text) + " AS ENUM (SELECT DISTINCT " + text + " FROM "
            + batches.sql() + ")");
        select.append("::").append(type(text)).append(" AS ").append(text);
      }
    }
    select.append(", pid::UINTEGER AS pid, route::USMALLINT AS route, ").append(Sql.unsigned("sequence"))
        .append(" AS sequence FROM ").append(batches.sql());
    duck.execute("CREATE OR REPLACE TABLE " + TABLE + " AS " + select);
  }

  private static String type(String text) {
    return "origin_" + text;
  }

  /** Returns the SQL that joins the rows {@code r} with their origins {@code b}. */
  String join() {
    return " JOIN " + TABLE + " b ON r.batch = b.batch";
  }

  @Override
  public void close() throws SQLException {
    duck.execute("DROP TABLE " + TABLE);
  }
}
