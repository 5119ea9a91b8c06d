package io.lifeline.jobs.archive.export;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import java.util.Locale;

/**
 * The messages of Perfetto's schema that a trace of ours needs, with the numbers and types of {@code
 * protos/perfetto/trace/perfetto_trace.proto}. Each field is {@code number type name}; a type in capitals is a message,
 * and {@code *} means repeated.
 */
final class PerfettoSchema {
  private static final String[][] MESSAGES = {
    {"Trace", "1 TracePacket* packet"},
    {"TracePacket", "6 ClockSnapshot clock_snapshot", "8 uint64 timestamp", "10 uint32 trusted_packet_sequence_id",
        "11 TrackEvent track_event", "12 InternedData interned_data", "13 uint32 sequence_flags",
        "60 TrackDescriptor track_descriptor"},
    {"ClockSnapshot", "1 Clock* clocks", "2 uint32 primary_trace_clock"},
    {"Clock", "1 uint32 clock_id", "2 uint64 timestamp"},
    {"TrackDescriptor", "1 uint64 uuid", "2 string name", "3 ProcessDescriptor process", "4 ThreadDescriptor thread",
        "5 uint64 parent_uuid", "8 CounterDescriptor counter"},
    {"ProcessDescriptor", "1 int32 pid", "6 string process_name"},
    {"ThreadDescriptor", "1 int32 pid", "2 int64 tid", "5 string thread_name"},
    {"CounterDescriptor", "6 string unit_name"},
    {"TrackEvent", "3 uint64* category_iids", "4 DebugAnnotation* debug_annotations", "9 uint32 type",
        "10 uint64 name_iid", "11 uint64 track_uuid", "23 string name", "30 int64 counter_value",
        "44 double double_counter_value", "47 fixed64* flow_ids"},
    {"DebugAnnotation", "1 uint64 name_iid", "2 bool bool_value", "3 uint64 uint_value", "4 int64 int_value",
        "5 double double_value", "6 string string_value", "10 string name"},
    {"InternedData", "1 Name* event_categories", "2 Name* event_names", "3 Name* debug_annotation_names"},
    {"Name", "1 uint64 iid", "2 string name"}
  };

  private PerfettoSchema() {}

  /** Returns the message of a whole trace. */
  static Descriptor trace() throws DescriptorValidationException {
    FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder().setName("trace.proto").setSyntax("proto2");
    for (String[] message : MESSAGES) {
      DescriptorProto.Builder descriptor = file.addMessageTypeBuilder().setName(message[0]);
      for (int i = 1; i < message.length; i++) {
        String[] words = message[i].split(" ");
        String type = words[1].replace("*", "");
        FieldDescriptorProto.Builder field = descriptor.addFieldBuilder().setNumber(Integer.parseInt(words[0]))
            .setName(words[2]).setLabel(words[1].endsWith("*") ? Label.LABEL_REPEATED : Label.LABEL_OPTIONAL);
        if (Character.isUpperCase(type.charAt(0))) {
          field.setType(Type.TYPE_MESSAGE).setTypeName("." + type);
        } else {
          field.setType(Type.valueOf("TYPE_" + type.toUpperCase(Locale.ROOT)));
        }
      }
    }
    return FileDescriptor.buildFrom(file.build(), new FileDescriptor[0]).findMessageTypeByName("Trace");
  }
}
