package io.lifeline.console.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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

  private JsonNode describe(Operation operation) {
    ObjectNode described = json.createObjectNode();
    described.put("summary", operation.summary());
    described.put("operationId", operation.method().name().toLowerCase(Locale.ROOT)
        + operation.path().replaceAll("[^a-z0-9]+", "_"));
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
    ObjectNode failure = responses.putObject("4XX").put("description", "a problem: the thing, its cause, the remedy");
    failure.putObject("content").putObject("application/problem+json").putObject("schema").put("type", "object");
    responses.putObject("503").put("description", "the archive or the broker cannot be reached");
    return described;
  }
}
