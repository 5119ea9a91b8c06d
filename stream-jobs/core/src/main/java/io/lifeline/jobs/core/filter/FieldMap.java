package io.lifeline.jobs.core.filter;

import java.util.AbstractMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The fields and constants of one event by name; values are read on demand. */
final class FieldMap extends AbstractMap<String, Object> {

  private final Map<String, Variable> own;
  private final EventGroup group;
  private final int event;

  FieldMap(Map<String, Variable> own, EventGroup group, int event) {
    this.own = own;
    this.group = group;
    this.event = event;
  }

  @Override
  public Object get(Object name) {
    Variable variable = own.get(name);
    return variable == null ? null : variable.values().of(group, event);
  }

  @Override
  public boolean containsKey(Object name) {
    return own.containsKey(name);
  }

  @Override
  public Set<Entry<String, Object>> entrySet() {
    Map<String, Object> values = new HashMap<>();
    own.forEach((name, variable) -> values.put(name, variable.values().of(group, event)));
    return values.entrySet();
  }
}
