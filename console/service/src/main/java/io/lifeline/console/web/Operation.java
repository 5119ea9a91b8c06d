package io.lifeline.console.web;

import io.javalin.http.HandlerType;
import io.lifeline.console.access.Role;
import java.util.List;

/**
 * One operation of the service.
 *
 * @param path below {@code /api/v1}; a parameter of the path is written {@code {name}}
 * @param body class of the JSON in the request; null for none
 * @param answer class of the JSON in the answer, or {@link EventStream}; null for none
 * @param status of a successful answer
 * @param role that a caller needs; null if none has to be logged in
 */
record Operation(HandlerType method, String path, String summary, List<Parameter<?>> parameters, Class<?> body,
    Class<?> answer, int status, Role role, Work work) {

  /** Does what was asked for; throws {@link Problem}, or any other exception, which is the service's own fault. */
  @FunctionalInterface
  interface Work {
    Object answer(Call call) throws Exception;
  }

  static Operation get(String path, String summary, Class<?> answer, Work work, Parameter<?>... parameters) {
    return new Operation(HandlerType.GET, path, summary, List.of(parameters), null, answer, 200, Role.VIEW, work);
  }

  static Operation stream(String path, String summary, Work work, Parameter<?>... parameters) {
    return get(path, summary, EventStream.class, work, parameters);
  }

  static Operation post(String path, String summary, Class<?> body, Class<?> answer, int status, Work work,
      Parameter<?>... parameters) {
    return new Operation(HandlerType.POST, path, summary, List.of(parameters), body, answer, status, Role.ACTIVATE,
        work);
  }

  static Operation delete(String path, String summary, Class<?> answer, Work work, Parameter<?>... parameters) {
    return new Operation(HandlerType.DELETE, path, summary, List.of(parameters), null, answer,
        answer == null ? 204 : 200, Role.ACTIVATE, work);
  }

  static Operation delete(String path, String summary, Work work, Parameter<?>... parameters) {
    return delete(path, summary, null, work, parameters);
  }

  /** Returns the same operation for callers with that role. */
  Operation needs(Role other) {
    return new Operation(method, path, summary, parameters, body, answer, status, other, work);
  }

  /** Returns the same operation for callers without a login. */
  Operation open() {
    return needs(null);
  }

  String name() {
    return method.name() + " " + path;
  }

  /** Returns whether it changes something, and so is audited. */
  boolean changes() {
    return method != HandlerType.GET && role != null && role != Role.VIEW;
  }
}
