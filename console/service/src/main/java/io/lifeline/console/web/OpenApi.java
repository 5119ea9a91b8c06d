package io.lifeline.console.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.victools.jsonschema.generator.Option;
import com.github.victools.jsonschema.generator.OptionPreset;
import com.github.victools.jsonschema.generator.SchemaGenerator;
import com.github.victools.jsonschema.generator.SchemaGeneratorConfigBuilder;
import com.github.victools.jsonschema.generator.SchemaVersion;
import java.util.List;
import java.util.Locale;

/** Writes the OpenAPI 3.1 document of the operations; its schemas are those of the classes in requests and answers. */
final class OpenApi {
  private static final List<String> SCHEMES = List.of("token", "session", "certificate");

  private final ObjectMapper json;
  private final SchemaGenerator bodies;
  private final SchemaGenerator answers;

  private OpenApi(ObjectMapper json) {
    this.json = json;
    this.bodies = new SchemaGenerator(schemas().build());
    SchemaGeneratorConfigBuilder complete = schemas();
    complete.forFields().withRequiredCheck(field -> true); // an answer has all members, null ones included
    this.answers = new SchemaGenerator(complete.build());
  }

  private SchemaGeneratorConfigBuilder schemas() {
    return new SchemaGeneratorConfigBuilder(json, SchemaVersion.DRAFT_2020_12, OptionPreset.PLAIN_JSON)
        .with(Option.INLINE_ALL_SCHEMAS, Option.NULLABLE_FIELDS_BY_DEFAULT, Option.MAP_VALUES_AS_ADDITIONAL_PROPERTIES,
            Option.FORBIDDEN_ADDITIONAL_PROPERTIES_BY_DEFAULT)
        .without(Option.SCHEMA_VERSION_INDICATOR);
  }

  static byte[] document(List<Operation> operations, ObjectMapper json) {
    OpenApi api = new OpenApi(json);
    ObjectNode document = json.createObjectNode();
    document.put("openapi", "3.1.0");
    document.putObject("info").put("title", "Lifeline console").put("version", "1")
        .put("description", "Events as lifelines, the directory of emitters, activations and SQL.");
    api.securitySchemes(document.putObject("components").putObject("securitySchemes"));
    ArrayNode security = document.putArray("security"); // one of these
    SCHEMES.forEach(scheme -> security.addObject().putArray(scheme));
    document.putArray("servers").addObject().put("url", Server.API);
    ObjectNode paths = document.putObject("paths");
    operations.forEach(operation -> paths.withObjectProperty(operation.path())
        .set(operation.method().name().toLowerCase(Locale.ROOT), api.describe(operation)));
    try {
      return json.writeValueAsBytes(document);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the document cannot be written", e);
    }
  }

  private void securitySchemes(ObjectNode schemes) {
    schemes.putObject(SCHEMES.get(0)).put("type", "http").put("scheme", "bearer")
        .put("description", "A token of lifeline-console token issue or POST /tokens. A console that listens on a"
            + " loopback address needs none, unless it is started with --tokens.");
    schemes.putObject(SCHEMES.get(1)).put("type", "apiKey").put("in", "cookie").put("name", "__Host-lifeline-PORT")
        .put("description", "The session of a browser, begun by POST /session");
    schemes.putObject(SCHEMES.get(2)).put("type", "mutualTLS")
        .put("description", "A client certificate, if the console is started with --tls-client-ca");
  }

  private JsonNode describe(Operation operation) {
    ObjectNode described = json.createObjectNode();
    described.put("summary", operation.summary());
    described.put("operationId", operation.method().name().toLowerCase(Locale.ROOT)
        + operation.path().replaceAll("[^a-z0-9]+", "_"));
    if (operation.role() == null) {
      described.putArray("security");
    } else {
      described.put("description", "Needs role " + operation.role() + ".");
    }
    operation.parameters().forEach(parameter -> described.withArrayProperty("parameters").addObject()
        .put("name", parameter.name())
        .put("in", parameter.place().name().toLowerCase(Locale.ROOT))
        .put("required", parameter.required())
        .put("description", parameter.description())
        .set("schema", json.valueToTree(parameter.schema())));
    if (operation.body() != null) {
      described.putObject("requestBody").put("required", true).putObject("content").putObject("application/json")
          .set("schema", bodies.generateSchema(operation.body()));
    }
    ObjectNode responses = described.putObject("responses");
    ObjectNode success = responses.putObject(Integer.toString(operation.status())).put("description", "done");
    if (operation.answer() == EventStream.class) {
      success.putObject("content").putObject("text/event-stream").putObject("schema").put("type", "string");
    } else if (operation.answer() != null) {
      success.putObject("content").putObject("application/json")
          .set("schema", answers.generateSchema(operation.answer()));
    }
    if (operation.role() != null) {
      responses.putObject("401").put("description", "the caller is not logged in");
      responses.putObject("403").put("description", "the caller may not do this");
    }
    ObjectNode failure = responses.putObject("4XX").put("description", "a problem: the thing, its cause, the remedy");
    failure.putObject("content").putObject("application/problem+json").putObject("schema").put("type", "object");
    responses.putObject("503").put("description", "the archive or the broker cannot be reached");
    return described;
  }
}
