package run

import (
	"fmt"
	"slices"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// agreement compares the fleet's counts, which come from sequence numbers at both ends, with what the broker counted meanwhile.
// If the counters cannot be compared, the sentence gives the reason.
func agreement(s scenario.Scenario, before, after result.Counters, c result.Counts) (compared, agrees bool, sentence string) {
	given := c.Received + c.Duplicated + c.Late + c.Unselected
	k := s.Kind()
	killed := slices.ContainsFunc(s.Faults, func(fault scenario.Fault) bool { return fault.Action != "stop" })
	switch why := incomparable(before, after); {
	case killed && !k.Stores:
		return false, false, "a node that was killed took its counters along, so the fleet's stand alone"
	case why != "" && !k.Stores:
		return false, false, why + ", so the fleet's counters stand alone"
	case k.Stores && before.Stored >= 0 && after.Stored >= 0:
		stored, markers := uint64(after.Stored-before.Stored), ""
		if s.Ack == "transaction" {
			// Kafka writes a mark into the topic where a transaction ends, which is one for each message here.
			stored, markers = stored-min(stored, c.Acknowledged), " besides the commits"
		}
		// what was refused or broke off may have been stored all the same
		agrees = stored >= c.Acknowledged && stored >= c.Sent-min(c.Sent, c.Refused) && stored <= c.Sent+c.Failed+c.Duplicated+aborts(s, c)
		return true, agrees, fmt.Sprintf("stored by the broker %d%s; sent %d, of these acknowledged %d and refused %d, %d more failed",
			stored, markers, c.Sent, c.Acknowledged, c.Refused, c.Failed)
	case k.OneSided && before.In >= 0 && after.In >= 0:
		in := uint64(after.In - before.In)
		if in > c.Sent && shared(s) {
			return false, false, othersUse
		}
		return true, in == c.Sent, fmt.Sprintf("taken by the broker %d of %d sent; what it gives over %s it does not count", in, c.Sent, k.Title)
	case !k.Stores && before.In >= 0 && after.In >= 0 && before.Out >= 0 && after.Out >= 0:
		in, out := uint64(after.In-before.In), uint64(after.Out-before.Out)
		if (in > c.Sent || out > given) && shared(s) {
			return false, false, othersUse
		}
		return true, in == c.Sent && out == given, fmt.Sprintf("taken by the broker %d of %d sent; given by it %d of %d received", in, c.Sent, out, given)
	}
	return false, false, "the broker's own counters cannot be read, so the fleet's stand alone"
}

// shared reports whether others may use the broker: it is not ours.
func shared(s scenario.Scenario) bool { return s.Broker.URL != "" }

const othersUse = "others used the broker meanwhile, so the fleet's counters stand alone"

// aborts is the maximum number of abort markers in the topics.
func aborts(s scenario.Scenario, c result.Counts) uint64 {
	if s.Ack == "transaction" {
		return c.Refused + c.Failed
	}
	return 0
}

// incomparable returns why the difference of both counters is not what happened between them; empty if it is. A node's counters
// begin with the node.
func incomparable(before, after result.Counters) string {
	if len(after.Nodes) > len(before.Nodes) {
		return "a node of the broker answers that did not at the start"
	}
	for _, node := range before.Nodes {
		now := slices.IndexFunc(after.Nodes, func(other result.Node) bool { return other.Name == node.Name })
		switch {
		case node.Name == "":
			return "a node of the broker did not answer at the start"
		case now < 0:
			return "node " + node.Name + " of the broker does not answer any more"
		case after.Nodes[now].Instance != node.Instance:
			return "node " + node.Name + " of the broker was started again and counts from zero"
		}
	}
	if 0 <= after.In && after.In < before.In {
		return "the broker was started again and counts from zero"
	}
	return ""
}
