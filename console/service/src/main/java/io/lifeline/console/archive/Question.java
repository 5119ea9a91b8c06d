package io.lifeline.console.archive;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.jobs.archive.ArchiveReader;
import java.io.IOException;
import java.sql.SQLException;

/** A question that a worker process answers. */
@FunctionalInterface
public interface Question {
  /**
   * Name of the question whose arguments hold SQL of a caller. It gets a database of its own: what it does to tables in
   * memory is gone with it.
   */
  String SQL = "sql";

  /**
   * Answers with an object that JSON can express, or an {@link Answer}.
   *
   * @param arguments members by name
   */
  Object answer(ArchiveReader archive, JsonNode arguments) throws IOException, SQLException, QuestionException;
}
