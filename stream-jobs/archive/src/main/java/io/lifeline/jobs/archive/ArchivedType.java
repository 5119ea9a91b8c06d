package io.lifeline.jobs.archive;

import io.lifeline.codec.FieldType;
import java.util.ArrayList;
import java.util.List;

/**
 * The type of an {@link ArchivedEvent}: one version of an event type. Compared by identity: a reader has one object per
 * version.
 */
public final class ArchivedType {
  private static final String START = ".start";
  private static final String END = ".end";

  /** A constant or a field. */
  public record Member(String name, FieldType type, String unit) {}

  private final String name;
  private final String level;
  private final List<Member> members;
  private final int idMember;
  private final String operation;

  private ArchivedType(String name, String level, List<Member> members, int idMember) {
    this.name = name;
    this.level = level;
    this.members = members;
    this.idMember = idMember;
    int suffix = name.endsWith(START) ? START.length() : name.endsWith(END) ? END.length() : name.length();
    this.operation = suffix < name.length() ? name.substring(0, name.length() - suffix) : null;
  }

  public static ArchivedType of(TypeEntry type) {
    List<Member> members = new ArrayList<>();
    type.constants().forEach(constant ->
        members.add(new Member(constant.name(), constant.fieldType(), constant.unit())));
    type.fields().forEach(field -> members.add(new Member(field.name(), field.fieldType(), field.unit())));
    int idField = type.idField();
    return new ArchivedType(type.name(), type.level(), List.copyOf(members),
        idField < 0 ? -1 : type.constants().size() + idField);
  }

  public String name() {
    return name;
  }

  /** Returns the level as FORMAT.md spells it. */
  public String level() {
    return level;
  }

  /** Returns the constants, then the fields, both in the order of the descriptor. */
  public List<Member> members() {
    return members;
  }

  /** Returns the index of the field {@code id}, which ties events to lifelines; -1 if there is none. */
  public int idMember() {
    return idMember;
  }

  /** Returns the name without {@code .start} or {@code .end}; null if it ends with neither. */
  public String operation() {
    return operation;
  }

  /** Returns whether the name ends with {@code .start}. */
  public boolean isStart() {
    return operation != null && name.endsWith(START);
  }

  /** Returns the name of the other half of an operation; null if this is none. */
  public String counterpart() {
    return operation == null ? null : operation + (isStart() ? END : START);
  }
}
