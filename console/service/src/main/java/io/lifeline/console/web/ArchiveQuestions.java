package io.lifeline.console.web;

import io.lifeline.console.archive.ArchiveAccess;
import io.lifeline.console.archive.ArchiveBusyException;
import java.io.IOException;
import java.sql.SQLException;

/** Asks the archive, and makes answers of its errors. */
public final class ArchiveQuestions {
  private final ArchiveAccess archive;

  public ArchiveQuestions(ArchiveAccess archive) {
    this.archive = archive;
  }

  <T> T ask(ArchiveAccess.Question<T> question) {
    if (!archive.exists()) {
      throw new Problem(409, "this console has no archive: start it with the archive's directory or URL");
    }
    try {
      return archive.ask(question);
    } catch (ArchiveBusyException e) {
      throw new Problem(503, e.getMessage());
    } catch (IOException e) {
      throw new Problem(503, "the archive cannot be read: " + e.getMessage());
    } catch (SQLException e) {
      throw new Problem(400, String.valueOf(e.getMessage()));
    }
  }
}
