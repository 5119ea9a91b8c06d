package io.lifeline.console.cli;

import io.lifeline.console.archive.ArchiveWorker;
import io.lifeline.console.web.ArchiveQuestions;
import java.io.FileDescriptor;
import java.io.FileOutputStream;

/** The process in which the console has questions to the archive answered. */
public final class WorkerMain {
  private WorkerMain() {}

  /** Answers on standard output what is asked on standard input. */
  public static void main(String[] none) throws Exception {
    System.setOut(System.err);
    ArchiveWorker.serve(ArchiveQuestions.all(), System.in, new FileOutputStream(FileDescriptor.out));
  }
}
