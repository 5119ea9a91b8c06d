package io.lifeline.jobs.archive.export;

import java.util.function.Function;

/** The formats by name. */
public enum ExportFormat {
  PERFETTO(options -> new TimelineFormat(options, PerfettoSink::new)),
  CHROME(options -> new TimelineFormat(options, ChromeSink::new)),
  PARAVER(ParaverFormat::new),
  BP(options -> new BpLines()),
  ULM(options -> new UlmLines()),
  XML(options -> new XmlLines()),
  CSV(options -> new CsvLines()),
  PARQUET(ParquetFormat::new),
  PERFSONAR(PerfsonarFormat::new),
  JSON(options -> new JsonLines());

  private final Function<ExportOptions, EventFormat> create;

  ExportFormat(Function<ExportOptions, EventFormat> create) {
    this.create = create;
  }

  public EventFormat create(ExportOptions options) {
    return create.apply(options);
  }
}
