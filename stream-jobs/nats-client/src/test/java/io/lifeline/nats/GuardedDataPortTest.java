package io.lifeline.nats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import io.lifeline.cases.Inputs;
import io.nats.client.support.IncomingHeadersProcessor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedDataPortTest {

  /** Reads from memory, in pieces of any size. */
  private static final class Port extends GuardedDataPort {
    Port(byte[] sent, Inputs any) {
      ByteArrayInputStream all = new ByteArrayInputStream(sent);
      in = new InputStream() {
        @Override
        public int read() {
          return all.read();
        }

        @Override
        public int read(byte[] bytes, int off, int len) {
          return all.read(bytes, off, Math.min(len, any.between(1, 40)));
        }
      };
    }
  }

  @Test
  void passesOnEveryMessageWithHeadersThatTheClientCanRead() {
    Cases.each(500, any -> {
      List<byte[]> headers = any.list(1, 6, () -> headers(any));
      List<byte[]> data = any.list(6, 6, () -> any.bytes(60));
      ByteArrayOutputStream sent = new ByteArrayOutputStream();
      sent.writeBytes("INFO {}\r\n".getBytes(ISO_8859_1));
      for (int i = 0; i < headers.size(); i++) {
        int length = headers.get(i).length;
        sent.writeBytes(("HMSG a.b 7 $JS.ACK.x " + length + " " + (length + data.get(i).length) + "\r\n")
            .getBytes(ISO_8859_1));
        sent.writeBytes(headers.get(i));
        sent.writeBytes(data.get(i));
        sent.writeBytes("\r\nMSG a 1 ".getBytes(ISO_8859_1));
        sent.writeBytes((data.get(i).length + "\r\n").getBytes(ISO_8859_1));
        sent.writeBytes(data.get(i));
        sent.writeBytes("\r\nPING\r\n".getBytes(ISO_8859_1));
      }
      Received received = new Received(everything(new Port(sent.toByteArray(), any), any));
      assertThat(received.line()).isEqualTo("INFO {}");
      for (int i = 0; i < headers.size(); i++) {
        String[] words = received.line().split(" ");
        assertThat(words).hasSize(6).startsWith("HMSG", "a.b", "7", "$JS.ACK.x");
        byte[] read = received.bytes(Integer.parseInt(words[4]));
        assertThat(new IncomingHeadersProcessor(read).getStatus()).isNull();
        assertThat(received.bytes(Integer.parseInt(words[5]) - read.length)).isEqualTo(data.get(i));
        assertThat(received.line()).isEmpty();
        assertThat(received.line()).isEqualTo("MSG a 1 " + data.get(i).length);
        assertThat(received.bytes(data.get(i).length)).isEqualTo(data.get(i));
        assertThat(received.line()).isEmpty();
        assertThat(received.line()).isEqualTo("PING");
      }
      assertThat(received.left()).isZero();
    });
  }

  private static byte[] headers(Inputs any) {
    if (any.flag()) {
      return any.bytes(40);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes("NATS/1.0".getBytes(ISO_8859_1));
    for (Object part : any.list(0, 12, () -> any.of("\r\n", " ", ":", "A", "503", "\r", "\n", "\u00e4", "Status: "))) {
      out.writeBytes(part.toString().getBytes(ISO_8859_1));
    }
    out.writeBytes(any.of("\r\n\r\n", "\r\n", "").getBytes(ISO_8859_1));
    return out.toByteArray();
  }

  private static byte[] everything(Port port, Inputs any) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] buffer = new byte[any.between(1, 100)];
    for (int count = port.read(buffer, 0, buffer.length); count > 0; count = port.read(buffer, 0, buffer.length)) {
      out.write(buffer, 0, count);
    }
    return out.toByteArray();
  }

  private static final class Received {
    private final byte[] all;
    private int position;

    Received(byte[] all) {
      this.all = all;
    }

    String line() {
      int start = position;
      while (all[position] != '\n') {
        position++;
      }
      position++;
      return new String(all, start, position - start - 2, ISO_8859_1);
    }

    byte[] bytes(int count) {
      position += count;
      return Arrays.copyOfRange(all, position - count, position);
    }

    int left() {
      return all.length - position;
    }
  }
}
