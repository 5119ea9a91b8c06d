package io.lifeline.console.web;

import io.javalin.http.HandlerType;
import java.util.List;

/**
 * One operation of the service.
 *
 * @param path below {@code /api/v1}; a parameter of the path is written {@code {name}}
 * @param body class of the JSON in the request; null for none
 * @param answer class of the JSON in the answer, or {@link EventStream}; null for none
 * @param status of a successful answer
 */
record Operation(HandlerType method, String path, String summary, List<Parameter<?>> parameters, Class<?> body,
    Class<?> answer, int status, Work work) {

  /** Does what was asked for; throws {@link Problem}, or any other exception, which is the service's own fault. */
  @FunctionalInterface
  interface Work {
    Object answer(Call call) throws Exception;
  }

  static Operation get(String path, String summary, Class<?> answer, Work work, Parameter<?>... parameters) {
    return new Operation(HandlerType.GET, path, summary, List.of(parameters), null, answer, 200, work);
  }

  static Operation stream(String path, String summary, Work work, Parameter<?>... parameters) {
    return get(path, summary, EventStream.class, work, parameters);
  }

  static Operation delete(String path, String summary, Work work, Parameter<?>... parameters) {
    return new Operation(HandlerType.DELETE, path, summary, List.of(parameters), null, null, 204, work);
  }

  static Operation post(String path, String summary, Class<?> body, Class<?> answer, int status, Work work) {
    return new Operation(HandlerType.POST, path, summary, List.of(), body, answer, status, work);
  }
}
