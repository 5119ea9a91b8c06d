package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.KeyText;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Timestamps;
import java.util.Map;

/**
 * A raised or cleared bottleneck alert. Both have the same key, so that the newest message of a key is the current
 * state. The id consists of the key, the time of the deciding sample and the state, so that a repeat has the same id.
 *
 * @param isOn false if the alert is cleared
 * @param because the verdict; for a cleared alert, the verdict that replaced it
 * @param sinceNs start of the bottleneck
 * @param atNs time of the deciding sample
 * @param changedNs time of the last change of a component before that; 0 if there was none
 * @param components measurements that the verdict is based on
 */
record Alert(
    String group,
    String component,
    boolean isOn,
    Verdict because,
    long sinceNs,
    long atNs,
    long changedNs,
    Map<String, ComponentStats> components) {

  void send(Output output) {
    String key = BottleneckJob.NAME + ":" + KeyText.encode(group) + ":" + KeyText.encode(component);
    output.send(Destination.ALERTS, key, key + ":" + atNs + (isOn ? ":on" : ":off"), json());
  }

  private byte[] json() {
    JsonWriter json =
        new JsonWriter()
            .beginObject()
            .field("alert", BottleneckJob.NAME)
            .field("state", isOn ? "on" : "off")
            .field("group", group)
            .field("subject", component)
            .field("reason", because.reason().label())
            .field("since", Timestamps.iso(sinceNs))
            .field("since_ns", sinceNs)
            .field("at", Timestamps.iso(atNs))
            .field("at_ns", atNs)
            .field("chance", because.chance())
            .field("changed", changedNs == 0 ? null : Timestamps.iso(changedNs));
    json.name("alike").beginArray();
    because.alike().forEach(json::value);
    json.endArray().name("components").beginArray();
    components.forEach((name, traits) -> component(json, name, traits));
    return json.endArray().endObject().toBytes();
  }

  /** Levels are of logarithms, so that the numbers written are geometric means. */
  private static void component(JsonWriter json, String name, ComponentStats traits) {
    json.beginObject()
        .field("component", name)
        .field("samples", traits.samples())
        .field("bytes_per_second_of_work", Math.exp(traits.rate().mean()))
        .field("bytes_per_second", Math.exp(traits.throughput().mean()))
        .field("busy", traits.use().mean() * Math.max(1, traits.threads()))
        .field("threads", traits.areThreadsKnown() ? traits.threads() : Double.NaN)
        .field("use", traits.use().mean())
        .field("unevenness", Math.exp(traits.unevenness().mean()))
        .endObject();
  }
}
