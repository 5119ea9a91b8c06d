package report

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"lifeline/loadgen/result"
)

func TestAComparisonNamesWhatWasDifferentAndWhatCameOfIt(t *testing.T) {
	a, b := sample("nats", 800, 1), sample("kafka", 800, 4)
	b.Scenario.Transport, b.Scenario.Ack, b.Scenario.Broker.Nodes = "kafka", "all", 1
	b.Counts.Lost = 0
	c := Compare([]string{"nats", "kafka"}, []result.Result{a, b})
	if len(c.Settings) != 3 || c.Settings[0].Key != "acknowledgement" || c.Settings[1].Key != "broker.nodes" || c.Settings[2].Key != "transport" {
		t.Errorf("settings %+v", c.Settings)
	}
	for _, measured := range c.Measures {
		if measured.Name == "RTT, p50" && (measured.Ratios[0] < 3.9 || measured.Ratios[0] > 4.1) {
			t.Errorf("%+v", measured)
		}
	}
	text := c.Text()
	for _, words := range []string{"kafka brought 99.8 % of its messages within", "they lost 0 % and 0.02 %", "broker.nodes", "ratio"} {
		if !strings.Contains(text, words) {
			t.Errorf("the text does not say %q:\n%s", words, text)
		}
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

func TestAComparisonThatCannotBeTrustedSaysSo(t *testing.T) {
	a, b, c := sample("a", 800, 1), sample("b", 800, 1), sample("c", 800, 1)
	b.Valid, b.Invalid = false, []string{"noise"}
	c.Machine.Cores = 64
	warnings := strings.Join(Compare([]string{"a", "b", "c"}, []result.Result{a, b, c}).Warnings, "\n")
	if !strings.Contains(warnings, "b is not valid: noise.") || !strings.Contains(warnings, "c ran on another machine than a") {
		t.Error(warnings)
	}
}

func TestARunThatDeliveredNothingIsNotTheFasterOne(t *testing.T) {
	none := sample("refused", 25_000, 1)
	none.Failure, none.Valid = &result.Failure{Cause: result.Descriptors, Message: "too many"}, false
	none.Counts, none.Times = result.Counts{}, result.Times{}
	for _, runs := range [][]result.Result{{none, sample("well", 800, 1)}, {sample("well", 800, 1), none}} {
		c := Compare([]string{Name(runs[0]), Name(runs[1])}, runs)
		said := strings.Join(c.sentences(), "\n")
		if !strings.Contains(said, "refused delivered nothing") || strings.Contains(said, "within") || strings.Contains(said, "not valid: .") {
			t.Error(said)
		}
		if text := c.Text(); regexp.MustCompile(`RTT, p50.* 0( |$)`).MatchString(text) {
			t.Error(text)
		}
	}
}

func TestARunThatBrokeIsNotDrawnAgainstConnections(t *testing.T) {
	well, broken := sample("well", 800, 1), sample("broken", 8000, 1)
	broken.Failure = &result.Failure{Cause: result.BrokerExit}
	if line := RTTByConnections("", "", Setups([]result.Result{well, broken})).Panels[0].Series[0].Points; len(line) != 1 {
		t.Errorf("%+v", line)
	}
}

func TestRunsOfOneSetupAreDrawnAgainstConnections(t *testing.T) {
	small, large, other := sample("small", 800, 1), sample("large", 8000, 1), sample("other", 8000, 2)
	other.Scenario.Transport = "kafka"
	setups := Setups([]result.Result{small, large, other})
	if len(setups) != 2 || len(setups[0].Runs) != 2 || setups[0].Name != "core NATS, 3 nodes" || setups[1].Name != "Kafka, 3 nodes" {
		t.Fatalf("%d set-ups", len(setups))
	}
	figure := RTTByConnections("", "", setups)
	if line := figure.Panels[0].Series[0].Points; len(line) != 2 || line[0].X != 800 || line[1].X != 8000 {
		t.Errorf("%+v", line)
	}
}

func TestAComparisonIsWrittenAsAPageAndMarkdown(t *testing.T) {
	folder := t.TempDir()
	page, err := Compare([]string{"a", "b", "c"}, []result.Result{sample("a", 800, 1), sample("b", 80, 2), sample("c", 8000, 3)}).Write(folder)
	if err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(page)
	if err != nil || strings.Count(string(html), "<svg") != 5 || !strings.Contains(string(html), "b / a") {
		t.Errorf("%v: %d bytes", err, len(html))
	}
}
