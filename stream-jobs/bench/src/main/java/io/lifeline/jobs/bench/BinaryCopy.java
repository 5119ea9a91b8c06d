package io.lifeline.jobs.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Splits a stream of rows in PostgreSQL's binary COPY format into transactions. */
final class BinaryCopy {
  private static final int HEADER = 19;

  private BinaryCopy() {}

  static List<byte[]> read(Connection connection, String query, long bytes) throws IOException, SQLException {
    byte[] all;
    try (var out = new ByteArrayOutputStream()) {
      copies(connection).copyOut("COPY (" + query + ") TO STDOUT (FORMAT binary)", out);
      all = out.toByteArray();
    }
    ByteBuffer buffer = ByteBuffer.wrap(all);
    List<byte[]> parts = new ArrayList<>();
    int start = HEADER;
    int at = HEADER;
    while (buffer.getShort(at) != -1) {
      int columns = buffer.getShort(at);
      at += 2;
      for (int i = 0; i < columns; i++) {
        at += 4 + Math.max(0, buffer.getInt(at));
      }
      if (at - start >= bytes || buffer.getShort(at) == -1) {
        byte[] part = new byte[HEADER + at - start + 2];
        System.arraycopy(all, 0, part, 0, HEADER);
        System.arraycopy(all, start, part, HEADER, at - start);
        part[part.length - 2] = -1;
        part[part.length - 1] = -1;
        parts.add(part);
        start = at;
      }
    }
    return parts;
  }

  static long write(Connection connection, String table, byte[] rows) throws IOException, SQLException {
    return copies(connection).copyIn(
        "COPY " + table + " FROM STDIN (FORMAT binary)", new ByteArrayInputStream(rows), 1 << 16);
  }

  private static CopyManager copies(Connection connection) throws SQLException {
    return connection.unwrap(PGConnection.class).getCopyAPI();
  }
}
