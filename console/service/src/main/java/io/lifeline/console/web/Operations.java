package io.lifeline.console.web;

import java.util.List;

/** A part of the service: operations that belong together. */
public interface Operations {
  List<Operation> all();
}
