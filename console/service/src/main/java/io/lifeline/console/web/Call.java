package io.lifeline.console.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.List;

/** One request for an {@link Operation}. */
final class Call {
  private static final int LARGEST_BODY = 1 << 20;

  private final Context context;
  private final Operation operation;
  private final ObjectMapper json;

  Call(Context context, Operation operation, ObjectMapper json) {
    this.context = context;
    this.operation = operation;
    this.json = json;
  }

  /** Returns the value of a parameter that the operation declares. */
  <T> T get(Parameter<T> parameter) {
    if (!operation.parameters().contains(parameter)) {
      throw new IllegalStateException(operation.path() + " does not declare " + parameter.name());
    }
    if (parameter.inPath()) {
      return parameter.of(context.pathParam(parameter.name()));
    }
    List<String> values = context.queryParams(parameter.name());
    if (values.size() > 1) {
      throw new Problem(400, parameter.name() + " is given " + values.size() + " times: once is expected");
    }
    return parameter.of(values.isEmpty() ? null : values.get(0));
  }

  /** Returns the body, which must be JSON of that shape. */
  <T> T body(Class<T> type) {
    byte[] bytes;
    try {
      bytes = context.bodyInputStream().readNBytes(LARGEST_BODY + 1);
    } catch (IOException e) {
      throw new Problem(400, "the request's body cannot be read: " + e.getMessage());
    }
    if (bytes.length > LARGEST_BODY) {
      throw new Problem(413, "the request's body has more than " + LARGEST_BODY + " bytes");
    }
    try {
      T body = json.readValue(bytes, type);
      if (body == null) {
        throw new Problem(400, "the request's body is null: an object is expected");
      }
      return body;
    } catch (JsonMappingException e) {
      throw new Problem(400, "the request's body does not have the expected members: " + e.getOriginalMessage());
    } catch (JsonProcessingException e) {
      throw new Problem(400, "the request's body is not JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new Problem(400, "the request's body cannot be read: " + e.getMessage());
    }
  }

  boolean accepts(String mediaType) {
    String accept = context.header("Accept");
    return accept != null && accept.contains(mediaType);
  }
}
