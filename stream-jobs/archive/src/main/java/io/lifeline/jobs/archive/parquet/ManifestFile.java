package io.lifeline.jobs.archive.parquet;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.archive.RouteEntry;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Map;

/**
 * The file of a manifest: a JSON object with the {@link Manifest} and then an entry per route. An archive of a month
 * may have millions of routes, so reading a manifest stops before them, and they are read and written one by one.
 */
final class ManifestFile {
  private static final String ROUTES = "routes";

  /** The property before the routes. In files of earlier releases it follows them. */
  private static final String LAST_PROPERTY = "last_message";

  private static final ObjectReader VALUE =
      Json.MAPPER.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final ObjectWriter WRITER = Json.MAPPER.writer().without(SerializationFeature.FLUSH_AFTER_WRITE_VALUE);

  private ManifestFile() {}

  static Manifest read(Path file) throws IOException {
    try (InputStream bytes = Files.newInputStream(file); JsonParser in = Json.MAPPER.createParser(bytes)) {
      Manifest manifest = Json.MAPPER.treeToValue(OldManifests.upgrade(withoutRoutes(in)), Manifest.class).clean();
      if (manifest.version() > Manifest.VERSION) {
        throw new ArchiveException("the manifest " + file + " has version " + manifest.version()
            + ", which this program does not know: use a newer one");
      }
      return manifest;
    } catch (JacksonException | CharConversionException e) {
      throw damaged(file, e);
    }
  }

  private static ObjectNode withoutRoutes(JsonParser in) throws IOException {
    ObjectNode properties = Json.MAPPER.createObjectNode();
    in.nextToken();
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      String name = in.currentName();
      in.nextToken();
      if (!name.equals(ROUTES) || OldManifests.needRoutes(properties)) {
        properties.set(name, VALUE.<JsonNode>readTree(in));
      } else if (properties.has(LAST_PROPERTY)) {
        break;
      } else {
        in.skipChildren();
      }
    }
    return properties;
  }

  static <E extends Exception> void forEachRoute(Path file, Manifests.RouteVisitor<E> visitor) throws IOException, E {
    try (InputStream bytes = Files.newInputStream(file); JsonParser in = Json.MAPPER.createParser(bytes)) {
      in.nextToken();
      while (in.nextToken() == JsonToken.FIELD_NAME) {
        boolean isRoutes = in.currentName().equals(ROUTES);
        in.nextToken();
        if (isRoutes) {
          while (in.nextToken() == JsonToken.START_OBJECT) {
            visitor.visit(RouteParser.read(in));
          }
          RouteParser.requireEnd(in);
          return;
        }
        in.skipChildren();
      }
      throw damaged(file, null);
    } catch (JacksonException | CharConversionException e) {
      throw damaged(file, e);
    }
  }

  /** Its first bytes may also look like another encoding: a CharConversionException. */
  private static ArchiveException damaged(Path file, IOException cause) {
    return new ArchiveException("the manifest " + file + " is damaged: restore it from a backup", cause);
  }

  /** Writes a new file and syncs it. */
  static void write(Path file, Manifest manifest, Collection<RouteEntry> routes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        JsonGenerator out = Json.MAPPER.createGenerator(Channels.newOutputStream(channel))) {
      out.writeStartObject();
      for (Map.Entry<String, JsonNode> property : Json.MAPPER.<ObjectNode>valueToTree(manifest).properties()) {
        out.writeFieldName(property.getKey());
        WRITER.writeValue(out, property.getValue());
      }
      out.writeArrayFieldStart(ROUTES);
      for (RouteEntry route : routes) {
        WRITER.writeValue(out, route);
      }
      out.writeEndArray();
      out.writeEndObject();
      out.flush();
      channel.force(true);
    }
  }
}
