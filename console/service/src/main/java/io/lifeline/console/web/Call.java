package io.lifeline.console.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.http.Context;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Limits;
import io.lifeline.console.access.Login;
import io.lifeline.console.access.Refusal;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** One request for an {@link Operation}. */
final class Call {
  private static final int LARGEST_BODY = 1 << 20;
  private static final int LARGEST_ANONYMOUS_BODY = 4 << 10;

  private final Context context;
  private final Operation operation;
  private final ObjectMapper json;
  private final Gate gate;
  private final Bodies bodies;
  private byte[] bytes;

  Call(Context context, Operation operation, ObjectMapper json, Gate gate, Bodies bodies) {
    this.context = context;
    this.operation = operation;
    this.json = json;
    this.gate = gate;
    this.bodies = bodies;
  }

  /** Returns who calls; an operation that is open to all has no caller. */
  Identity identity() {
    return login().identity();
  }

  /** Returns under which name the caller gets a share of what there is little of; null if it may have all. */
  String share() {
    return login() == null || login().means() == Login.Means.LOCAL ? null : identity().name();
  }

  /** Refuses what exceeds the limits of the caller's token. */
  void requireWithinLimits(Limits asked) {
    String excess = identity().limits().exceededBy(asked);
    if (excess != null) {
      throw new Refusal(403, identity().name() + " may not switch " + excess);
    }
  }

  /** Returns how the caller was identified; null if it was not. */
  Login login() {
    return Gate.login(context);
  }

  /** Exchanges a token for a session of the browser. */
  void signIn(String token) {
    gate.signIn(context, token);
  }

  void signOut() {
    gate.signOut(context);
  }

  /** Refuses parameters that the operation does not have: they are mistyped, and would be ignored. */
  void requireKnownParameters() {
    Set<String> known = operation.parameters().stream().filter(parameter -> parameter.place() == Parameter.Place.QUERY)
        .map(Parameter::name).collect(Collectors.toCollection(TreeSet::new));
    for (String name : context.queryParamMap().keySet()) {
      if (!known.contains(name)) {
        throw new Problem(400, "there is no parameter " + name + " here: "
            + (known.isEmpty() ? "none is expected" : "expected are " + String.join(", ", known)));
      }
    }
  }

  /** Returns the value of a parameter that the operation declares. */
  <T> T get(Parameter<T> parameter) {
    if (!operation.parameters().contains(parameter)) {
      throw new IllegalStateException(operation.path() + " does not declare " + parameter.name());
    }
    return parameter.of(switch (parameter.place()) {
      case PATH -> context.pathParam(parameter.name());
      case HEADER -> context.header(parameter.name());
      case QUERY -> inQuery(parameter.name());
    });
  }

  private String inQuery(String name) {
    List<String> values = context.queryParams(name);
    if (values.size() > 1) {
      throw new Problem(400, name + " is given " + values.size() + " times: once is expected");
    }
    return values.isEmpty() ? null : values.get(0);
  }

  /** Returns the body, which must be JSON of that shape. */
  <T> T body(Class<T> type) {
    String mediaType = context.contentType();
    if (mediaType == null || !mediaType.split(";")[0].strip().equalsIgnoreCase("application/json")) {
      throw new Problem(415, "the request's body must be JSON, with the header Content-Type: application/json");
    }
    int largest = operation.role() == null ? LARGEST_ANONYMOUS_BODY : LARGEST_BODY;
    if (bytes == null) {
      bytes = bodies.read(context, largest);
    }
    if (bytes.length > largest) {
      throw new Problem(413, "the request's body has more than " + largest + " bytes");
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

  String path() {
    return context.path();
  }

  boolean accepts(String mediaType) {
    String accept = context.header("Accept");
    return accept != null && accept.contains(mediaType);
  }
}
