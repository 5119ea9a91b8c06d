package run

import (
	"strings"
	"testing"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

func TestAgreementIsJudgedByWhatABrokerCounts(t *testing.T) {
	unknown := result.Counters{In: -1, Out: -1, Stored: -1}
	for name, c := range map[string]struct {
		transport     string
		before, after result.Counters
		counts        result.Counts
		agrees        bool
	}{
		"all there":                {"nats", result.Counters{In: 5, Out: 7}, result.Counters{In: 15, Out: 17}, result.Counts{Sent: 10, Received: 10}, true},
		"lost behind the broker":   {"nats", result.Counters{}, result.Counters{In: 10, Out: 10}, result.Counts{Sent: 10, Received: 9, Lost: 1}, false},
		"lost before the broker":   {"nats", result.Counters{}, result.Counters{In: 9, Out: 9}, result.Counts{Sent: 10, Received: 9, Lost: 1}, false},
		"given twice, seen twice":  {"nats", result.Counters{}, result.Counters{In: 10, Out: 11}, result.Counts{Sent: 10, Received: 10, Duplicated: 1}, true},
		"unselected was given too": {"nats", result.Counters{}, result.Counters{In: 10, Out: 10}, result.Counts{Sent: 10, Received: 6, Unselected: 4}, true},
		"MQTT counts one side":     {"mqtt", result.Counters{}, result.Counters{In: 10}, result.Counts{Sent: 10, Received: 10}, true},
		"every message stored":     {"kafka", result.Counters{Stored: 3}, result.Counters{Stored: 13}, result.Counts{Sent: 10, Acknowledged: 10, Received: 10}, true},
		"acknowledged, not stored": {"jetstream", result.Counters{}, result.Counters{Stored: 9}, result.Counts{Sent: 10, Acknowledged: 10, Received: 9, Lost: 1}, false},
		"refused, stored for all that": {"jetstream", result.Counters{}, result.Counters{Stored: 10},
			result.Counts{Sent: 10, Acknowledged: 8, Refused: 2, Received: 10}, true},
		"refused, not stored": {"kafka", result.Counters{}, result.Counters{Stored: 8},
			result.Counts{Sent: 10, Acknowledged: 8, Refused: 2, Received: 8, Lost: 2}, true},
		"stored is unknown": {"jetstream", result.Counters{Stored: -1}, result.Counters{In: 10, Out: 10, Stored: -1},
			result.Counts{Sent: 10, Acknowledged: 10, Received: 10}, false}, // answers and messages are one to such a server
		"started again":   {"nats", result.Counters{In: 50, Out: 70}, result.Counters{In: 9, Out: 9}, result.Counts{Sent: 10, Received: 9, Lost: 1}, false},
		"nothing to read": {"nats", unknown, unknown, result.Counts{Sent: 10, Received: 10}, false},
	} {
		compared, agrees, sentence := agreement(scenario.Scenario{Transport: c.transport}, c.before, c.after, c.counts)
		if agrees != c.agrees || compared == strings.Contains(sentence, "alone") || sentence == "" {
			t.Errorf("%s: %v, %v, %q", name, compared, agrees, sentence)
		}
	}
}

func TestCountersThatANodeTookAlongAreNotCompared(t *testing.T) {
	for action, agrees := range map[string]bool{"kill": false, "restart": false, "stop": true} {
		s := scenario.Scenario{Transport: "nats", Faults: []scenario.Fault{{Action: action}}}
		compared, got, sentence := agreement(s, result.Counters{}, result.Counters{In: 10, Out: 10}, result.Counts{Sent: 10, Received: 10})
		if got != agrees || compared != agrees || strings.Contains(sentence, "took its counters along") == agrees {
			t.Errorf("%s: %v, %v, %q", action, compared, got, sentence)
		}
	}
}

func TestMarksOfTransactionsAreNoMessages(t *testing.T) {
	for name, c := range map[string]struct {
		stored int64
		counts result.Counts
		agrees bool
	}{
		"a commit behind each":       {20, result.Counts{Sent: 10, Acknowledged: 10, Received: 10}, true},
		"a message less than marks":  {19, result.Counts{Sent: 10, Acknowledged: 10, Received: 9, Lost: 1}, false},
		"an abort and what it ended": {20, result.Counts{Sent: 10, Acknowledged: 9, Refused: 1, Received: 9, Lost: 1}, true},
		"one more than anybody sent": {21, result.Counts{Sent: 10, Acknowledged: 10, Received: 10}, false},
	} {
		_, agrees, sentence := agreement(scenario.Scenario{Transport: "kafka", Ack: "transaction"}, result.Counters{}, result.Counters{Stored: c.stored}, c.counts)
		if agrees != c.agrees {
			t.Errorf("%s: %v, %q", name, agrees, sentence)
		}
	}
}

func TestCountersOfOtherNodesAreNotCompared(t *testing.T) {
	node := func(name, instance string, in int64) result.Node {
		return result.Node{Name: name, Instance: instance, In: in}
	}
	counters := func(nodes ...result.Node) result.Counters {
		c := result.Counters{Nodes: nodes}
		for _, n := range nodes {
			c.In, c.Out = c.In+n.In, c.Out+n.In
		}
		return c
	}
	for name, c := range map[string]struct {
		before, after result.Counters
		compared      bool
	}{
		"the same nodes":           {counters(node("a", "1", 5), node("b", "2", 5)), counters(node("b", "2", 10), node("a", "1", 10)), true},
		"one does not answer":      {counters(node("a", "1", 5), node("b", "2", 5)), counters(node("a", "1", 20)), false},
		"one was started again":    {counters(node("a", "1", 5), node("b", "2", 5)), counters(node("a", "1", 10), node("b", "3", 10)), false},
		"one answers that did not": {counters(node("a", "1", 5)), counters(node("a", "1", 10), node("b", "2", 5)), false},
	} {
		compared, agrees, sentence := agreement(scenario.Scenario{Transport: "nats"}, c.before, c.after, result.Counts{Sent: 10, Received: 10})
		if compared != c.compared || agrees != c.compared || sentence == "" {
			t.Errorf("%s: compared=%t, agrees=%t: %s", name, compared, agrees, sentence)
		}
	}
}

func TestWhatOthersPublishOnASharedBrokerIsNoDisagreement(t *testing.T) {
	s := scenario.Scenario{Transport: "nats", Broker: scenario.Broker{URL: "nats://broker.example"}}
	counts := result.Counts{Sent: 10, Received: 10}
	if compared, _, why := agreement(s, result.Counters{}, result.Counters{In: 10, Out: 25}, counts); compared || !strings.Contains(why, "others") {
		t.Errorf("more than ours on a shared broker: %t, %q", compared, why)
	}
	if compared, agrees, _ := agreement(s, result.Counters{}, result.Counters{In: 9, Out: 9}, counts); !compared || agrees {
		t.Error("less than ours on a shared broker is no disagreement")
	}
	s.Broker.URL = ""
	if compared, agrees, _ := agreement(s, result.Counters{}, result.Counters{In: 10, Out: 25}, counts); !compared || agrees {
		t.Error("more than ours on a broker of our own is no disagreement")
	}
}
