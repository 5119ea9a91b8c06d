package run

import (
	"fmt"
	"slices"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// stores reports whether a scenario's messages go into streams or topics, whose length the broker knows.
func stores(s scenario.Scenario) bool { return s.Transport == "jetstream" || s.Transport == "kafka" }

// agreement compares the fleet's counts, which come from sequence numbers at both ends, with what the broker counted meanwhile.
// If the counters cannot be compared, the sentence gives the reason.
func agreement(s scenario.Scenario, before, after result.Counters, c result.Counts) (compared, agrees bool, sentence string) {
	given := c.Received + c.Duplicated + c.Late + c.Unselected
	killed := slices.ContainsFunc(s.Faults, func(fault scenario.Fault) bool { return fault.Action != "stop" })
	switch {
	case killed && !stores(s):
		return false, false, "a node that was killed took its counters along, so the fleet's stand alone"
	case 0 <= after.In && after.In < before.In && !stores(s):
		return false, false, "the broker was started again meanwhile and counts from zero, so the fleet's counters stand alone"
	case stores(s) && before.Stored >= 0 && after.Stored >= 0:
		stored, markers := uint64(after.Stored-before.Stored), ""
		if s.Ack == "transaction" {
			// Kafka writes a mark into the topic where a transaction ends, which is one for each message here.
			stored, markers = stored-min(stored, c.Acknowledged), " besides the commits"
		}
		// what was refused or broke off may have been stored all the same
		agrees = stored >= c.Acknowledged && stored >= c.Sent-min(c.Sent, c.Refused) && stored <= c.Sent+c.Failed+c.Duplicated+aborts(s, c)
		return true, agrees, fmt.Sprintf("stored by the broker %d%s; sent %d, of these acknowledged %d and refused %d, %d more failed",
			stored, markers, c.Sent, c.Acknowledged, c.Refused, c.Failed)
	case s.Transport == "mqtt" && before.In >= 0 && after.In >= 0: // nats-server does not count what it gives to MQTT clients
		in := uint64(after.In - before.In)
		return true, in == c.Sent, fmt.Sprintf("taken by the broker %d of %d sent; what it gives to MQTT clients it does not count", in, c.Sent)
	case !stores(s) && before.In >= 0 && after.In >= 0 && before.Out >= 0 && after.Out >= 0:
		in, out := uint64(after.In-before.In), uint64(after.Out-before.Out)
		return true, in == c.Sent && out == given, fmt.Sprintf("taken by the broker %d of %d sent; given by it %d of %d received", in, c.Sent, out, given)
	}
	return false, false, "the broker's own counters cannot be read, so the fleet's stand alone"
}

// aborts is the maximum number of abort markers in the topics.
func aborts(s scenario.Scenario, c result.Counts) uint64 {
	if s.Ack == "transaction" {
		return c.Refused + c.Failed
	}
	return 0
}
