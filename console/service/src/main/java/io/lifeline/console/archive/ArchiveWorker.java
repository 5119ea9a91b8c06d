package io.lifeline.console.archive;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.sql.ArchiveLocation;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** The side of a worker process: answers one question after the other until its parent closes the pipe. */
public final class ArchiveWorker {
  private static final long FRESH_NS = TimeUnit.SECONDS.toNanos(2);
  private static final int LARGEST_REQUEST = 8 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, Question> questions;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final SynchronousQueue<byte[]> requests = new SynchronousQueue<>();
  private Setup setup;
  private ArchiveReader reader;
  private long openedNs;

  /**
   * What a worker is told first.
   *
   * @param limitMs after which a database ends a query by itself, should this process be killed
   */
  record Setup(ArchiveLocation location, long memoryBytes, long limitMs) {}

  record Request(String question, JsonNode arguments) {}

  private ArchiveWorker(Map<String, Question> questions, InputStream in, OutputStream out) {
    this.questions = questions;
    this.in = new DataInputStream(in);
    this.out = new DataOutputStream(out);
  }

  /** Serves for as long as the process lives. */
  public static void serve(Map<String, Question> questions, InputStream in, OutputStream out) throws Exception {
    new ArchiveWorker(questions, in, out).run();
  }

  private void run() throws Exception {
    setup = JSON.readValue(request(), Setup.class);
    if (!setup.location().hasDatabase()) {
      DuckDb.open().close(); // loads the library before the time of a question runs
    }
    out.writeByte(1);
    out.flush();
    Thread reading = new Thread(this::readRequests, "lifeline-requests");
    reading.setDaemon(true);
    reading.start();
    while (true) {
      answer(JSON.readValue(requests.take(), Request.class)).write(out);
    }
  }

  /** On a thread of its own, so that the process also ends in the middle of a question when its parent has. */
  private void readRequests() {
    try {
      while (true) {
        requests.put(request());
      }
    } catch (IOException | InterruptedException e) {
      Runtime.getRuntime().halt(0);
    }
  }

  private byte[] request() throws IOException {
    int length = in.readInt();
    if (length < 0 || length > LARGEST_REQUEST) {
      throw new IOException("a request of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return bytes;
  }

  private Answer answer(Request request) {
    try {
      Object found = ask(request);
      Answer answer = found instanceof Answer made ? made
          : new Answer(Answer.OK, "application/json", JSON.writeValueAsBytes(found));
      return answer.bytes().length <= Answer.MOST_BYTES ? answer
          : Answer.error(400, "the answer has more than " + (Answer.MOST_BYTES >> 20) + " MiB: restrict the question");
    } catch (QuestionException e) {
      return Answer.error(e.status(), e.getMessage());
    } catch (IOException e) {
      return Answer.error(503, "the archive cannot be read: " + e.getMessage());
    } catch (SQLException e) {
      return Answer.error(400, e.getMessage());
    } catch (RuntimeException e) {
      return Answer.error(500, "the question failed: " + e);
    }
  }

  private Object ask(Request request) throws IOException, SQLException, QuestionException {
    Question question = questions.get(request.question());
    if (request.question().equals(Question.SQL)) {
      try (ArchiveReader own = open()) {
        return question.answer(own, request.arguments());
      }
    }
    if (reader == null || System.nanoTime() - openedNs > FRESH_NS) {
      closeReader();
      reader = open();
      openedNs = System.nanoTime();
    }
    try {
      return question.answer(reader, request.arguments());
    } finally {
      endQuestion();
    }
  }

  private void endQuestion() throws SQLException {
    try {
      reader.endQuestion();
    } catch (SQLException e) {
      closeReader(); // the connection is lost: the next question opens another one
    }
  }

  /** It shows the archive as of now. */
  private ArchiveReader open() throws IOException, SQLException {
    return setup.location().openForStrangers(setup.memoryBytes(), setup.limitMs());
  }

  private void closeReader() throws SQLException {
    if (reader != null) {
      ArchiveReader closing = reader;
      reader = null;
      closing.close();
    }
  }
}
