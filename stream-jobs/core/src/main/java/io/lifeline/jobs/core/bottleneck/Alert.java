package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.KeyText;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Timestamps;
import java.util.Map;

/**
 * A message about a bottleneck: that it is one, or that it is none any more. Both have the same key, so that the
 * newest message of a key says how things are. The id is made of what the alert says and the time of the sample that
 * decided it, so that a repeat has the id of the first.
 *
 * @param isOn false when the component stopped being the bottleneck
 * @param because what led to this; of an end, what came instead
 * @param sinceNs since when it is or was the bottleneck
 * @param atNs time of the sample that decided this
 * @param changedNs when the components changed last before that; 0 if they did not
 * @param components what the decision rests on
 */
record Alert(
    String group,
    String component,
    boolean isOn,
    Verdict because,
    long sinceNs,
    long atNs,
    long changedNs,
    Map<String, Traits> components) {

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

  /** Levels are of logarithms, so their means come back as geometric ones. */
  private static void component(JsonWriter json, String name, Traits traits) {
    json.beginObject()
        .field("component", name)
        .field("samples", traits.samples())
        .field("bytes_per_second_of_work", Math.exp(traits.rate().mean()))
        .field("bytes_per_second", Math.exp(traits.throughput().mean()))
        .field("busy", traits.busy())
        .field("unevenness", Math.exp(traits.unevenness().mean()))
        .endObject();
  }
}
