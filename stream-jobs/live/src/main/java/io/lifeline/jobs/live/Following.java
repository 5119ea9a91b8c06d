package io.lifeline.jobs.live;

import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.directory.Answer;
import io.lifeline.jobs.core.directory.EmitterRow;
import java.util.ArrayList;
import java.util.List;

/**
 * Which of the emitters that an activation is for, and that have not ended, follow it.
 *
 * @param following they said that this very line is in force
 * @param refusing they said why not
 * @param silent they have not answered: they may not read the control topic, or the directory began after the answer
 */
public record Following(List<EmitterRow> following, List<EmitterRow> refusing, List<EmitterRow> silent) {

  public static Following of(Activation activation, List<EmitterRow> emitters) {
    Following all = new Following(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    if (activation.pattern() == null) { // an illegal line is for nobody
      return all;
    }
    Glob program = Glob.of(activation.program());
    Glob host = Glob.of(activation.host());
    for (EmitterRow emitter : emitters) {
      if (emitter.ended() || !program.matches(emitter.program()) || !host.matches(emitter.host())) {
        continue;
      }
      Answer answer = emitter.answers().get(activation.id());
      if (answer == null || !activation.line().equals(answer.line())) {
        all.silent.add(emitter);
      } else if (answer.state() == Answer.State.REFUSED) {
        all.refusing.add(emitter);
      } else if (answer.state() == Answer.State.IN_FORCE) {
        all.following.add(emitter);
      }
    }
    return all;
  }
}
