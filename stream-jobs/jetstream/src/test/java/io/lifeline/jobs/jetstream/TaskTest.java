package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class TaskTest {

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void throwUndeclared(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @Test
  void aCheckedExceptionThatNobodyDeclaresEndsTheHostWithItsCause() {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    TimeoutException thrown = new TimeoutException("the library gave up");
    Task task =
        new Task("archive", failure) {
          @Override
          void session() {
            TaskTest.<RuntimeException>throwUndeclared(thrown);
          }
        };
    task.run();
    assertThat(failure.getNow(null)).isSameAs(thrown);
    assertThat(task.status()).isEqualTo("failed: the library gave up");
  }
}
