package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;

/** RFC 4180: a header, lines that end with CR LF, and the members of an event as JSON in the last column. */
final class CsvLines extends LineFormat {
  private final TimeText time = TimeText.iso();
  private final StringBuilder fields = new StringBuilder();

  @Override
  String head() {
    return "ts,ts_ns,type,level,host,program,pid,thread,incarnation,route,sequence,event_index,id,fields\r\n";
  }

  @Override
  void append(StringBuilder line, ArchivedEvent event) {
    time.append(line, event.timeNs(), 9);
    line.append("Z,").append(event.timeNs());
    line.append(',').append(Csv.quoted(event.type().name())).append(',').append(event.type().level());
    line.append(',').append(Csv.quoted(event.host())).append(',').append(Csv.quoted(event.program()));
    line.append(',').append(event.pid()).append(',').append(Long.toUnsignedString(event.thread()));
    line.append(',').append(event.incarnation()).append(',').append(event.route());
    line.append(',').append(Long.toUnsignedString(event.sequence())).append(',').append(event.index());
    String id = event.id();
    line.append(',').append(id == null ? "" : Csv.quoted(id));
    fields.setLength(0);
    MembersJson.append(fields, event);
    line.append(',').append(Csv.quoted(fields.toString())).append("\r\n");
  }
}
