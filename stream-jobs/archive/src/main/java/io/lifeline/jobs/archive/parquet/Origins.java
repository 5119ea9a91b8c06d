package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.Sql;
import java.sql.SQLException;
import java.util.List;

/**
 * Where the events of a roll come from, as a table that the rows of each of its files are joined with.
 *
 * <p>The texts are enumerations as long as there are few of them: their numbers go into Parquet's dictionary as they
 * are, while every other text is hashed again for each row. What a reader sees is the same.
 */
final class Origins implements AutoCloseable {
  private static final String TABLE = "origins";
  private static final List<String> TEXTS = List.of("host", "program", "incarnation");

  /** An enumeration stands in every row group as a whole, used or not, so a long one would outgrow the rows. */
  private static final int MAX_ENUMERATED = 1_000;

  private final DuckTables duck;

  /** Makes the table of the batches of a roll. */
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

  /** The SQL that joins the rows {@code r} with where they come from, as {@code b}. */
  String join() {
    return " JOIN " + TABLE + " b ON r.batch = b.batch";
  }

  @Override
  public void close() throws SQLException {
    duck.execute("DROP TABLE " + TABLE);
  }
}
