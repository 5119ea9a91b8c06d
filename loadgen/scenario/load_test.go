package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

func TestAnEmptyFileIsTheDefaultFleetOnNATS(t *testing.T) {
	s, err := Parse("empty.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "empty" || s.Generators != 800 || s.Transport != "nats" || s.Ack != "none" || s.Broker.Replicas != 1 {
		t.Errorf("got %+v", s)
	}
	if want := (Range{To: Seconds(10)}); s.InitialSleep != want {
		t.Errorf("initial sleep is %v, not one interval", s.InitialSleep)
	}
}

func TestDefaultsFollowTheTransport(t *testing.T) {
	for _, c := range []struct {
		changes  []string
		ack      Acknowledgement
		warmUp   Duration
		replicas int
	}{
		{[]string{"transport=jetstream"}, "stream", Duration{}, 1},
		{[]string{"transport=jetstream", "broker.nodes=3"}, "stream", Duration{}, 3},
		{[]string{"transport=nats", "broker.nodes=3"}, "none", Duration{}, 1},
		{[]string{"transport=kafka", "broker.nodes=3"}, "all", Seconds(30), 3},
		{[]string{"broker.url=kafka://a:9092"}, "all", Seconds(30), 1},
		{[]string{"broker.url=mqtt://a", "warm_up=5s"}, "none", Seconds(5), 1},
	} {
		s, err := Parse("", nil, c.changes...)
		if err != nil {
			t.Errorf("%v: %v", c.changes, err)
		}
		if s.Ack != c.ack || s.WarmUp != c.warmUp || s.Broker.Replicas != c.replicas {
			t.Errorf("%v: %s, warm-up %s, %d replicas", c.changes, s.Ack, s.WarmUp, s.Broker.Replicas)
		}
	}
}

func TestAnExplicitZeroIsNoDefault(t *testing.T) {
	s, err := Parse("", []byte("initial_sleep: [0s, 0s]\nwarm_up: 0s\ntransport: kafka\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.InitialSleep != (Range{}) || s.WarmUp != (Duration{}) {
		t.Errorf("sleep %v, warm-up %v", s.InitialSleep, s.WarmUp)
	}
}

func TestEachMistakeIsNamedWithItsLineAndACure(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"generators: many", `f.yaml:1: generators: "many" is no whole number; write one from 1 to 1000000`},
		{"\ngenerators: 0", "f.yaml:2: generators: 0 is out of range; write one from 1 to 1000000"},
		{"generator: 5", "f.yaml:1: generator: there is no such key; did you mean generators?"},
		{"warmUp: 5s", "f.yaml:1: warmUp: there is no such key; did you mean warm_up?"},
		{"nodes: 3", "f.yaml:1: nodes: there is no such key; did you mean broker.nodes?"},
		{"broker:\n  interval: 1s", "f.yaml:2: broker.interval: there is no such key; it belongs to the file's outermost level"},
		{"interval: 10", `f.yaml:1: interval: "10" is not possible; write for example 10s or 500ms or 1m30s`},
		{"initial_sleep: 10s", "f.yaml:1: initial_sleep: write a list; write for example [10s, 20s]"},
		{"initial_sleep: [10s]", "f.yaml:1: initial_sleep: has 1 values; write 2; write for example [10s, 20s]"},
		{"initial_sleep: [9s, 2s]", "f.yaml:1: initial_sleep: ends before it begins; write [2s, 9s]"},
		{"transport: udp", `f.yaml:1: transport: "udp" is not possible; write nats, nats-tls, nats-websocket, jetstream, mqtt, kafka or postgres`},
		{"seed: 1\nseed: 2", "f.yaml:2: seed: given twice; keep one"},
		{"broker: nats", "f.yaml:1: broker: write keys and values here, one of ca_file, certificate_file, credentials_file, kafka_jars, key_file, nodes, password_file, replicas, sasl, url, user"},
		{"broker: {user: 12, url: nats://a}", "f.yaml:1: broker.user: 12 is no text; put it into quotes"},
		{"broker:\n  url: nats://me:secret@a", `f.yaml:2: broker.url: a URL with a password in it would end in reports; write user and password_file`},
		{"transport: mqtt\nacknowledgement: all", "f.yaml:2: acknowledgement: mqtt does not offer all; write none or qos1"},
		{"transport: mqtt\nclient: minimal", "f.yaml:2: client: there is a minimal client for nats, nats-tls or kafka only; write library for mqtt"},
		{"transport: kafka\nbroker: {nodes: 2}", "f.yaml:2: broker.nodes: an embedded broker for kafka has 1 or 3 nodes, not 2"},
		{"transport: postgres\nfaults: [{at: 1s, action: kill}]", "f.yaml:2: faults: are not supported with an embedded PostgreSQL; leave them out"},
		{"broker: {user: me}", "f.yaml:1: broker.user: is for a broker of your own: add broker.url, or leave it out"},
		{"broker: {url: 'nats://a', user: me}", "f.yaml:1: broker.user: user and password_file go together; give both or none"},
		{"broker: {url: 'mqtt://a', password_file: secret}", "f.yaml:1: broker.user: user and password_file go together; give both or none"},
		{"broker: {url: 'nats://a', sasl: plain}", "f.yaml:1: broker.sasl: is for a Kafka with user and password_file; leave it out"},
		{"broker: {url: 'kafka://a', credentials_file: f.creds}", "f.yaml:1: broker.credentials_file: is for NATS; kafka takes user and password_file"},
		{"broker: {url: 'nats://a', credentials_file: f.creds, password_file: token}", "f.yaml:1: broker.credentials_file: says who the fleet is, and so does password_file; give one of them"},
		{"broker: {url: 'tls://a', certificate_file: c.pem}", "f.yaml:1: broker.certificate_file: certificate_file and key_file go together; give both or none"},
		{"broker: {url: 'kafka://a', ca_file: ca.pem}", "f.yaml:1: broker.ca_file: is of no use without TLS; write a URL with tls://, wss://, mqtts://, kafka://HOST:PORT/?tls=true or postgres://HOST:PORT/?tls=true"},
		{"transport: kafka\nbroker: {url: 'nats://a'}", "f.yaml:1: transport: kafka does not go with broker.url: nats://; write a URL with kafka://"},
		{"message: {events: 10}", "f.yaml:1: message.events: only a batch has events; write kind: batch, or multiple for a larger raw message"},
		{"subscribers: {acknowledge: each}", "f.yaml:1: subscribers.acknowledge: subscribers of nats cannot; leave it out, or write transport jetstream"},
		{"subscribers: {poll: 100ms}", "f.yaml:1: subscribers.poll: nats only pushes; write 0s, or transport jetstream, kafka or postgres"},
		{"subscribers: {node: other}", "f.yaml:1: subscribers.node: other needs a second node; write broker.nodes: 2, or same"},
		{"subscribers: {node: apart}", "f.yaml:1: subscribers.node: apart needs a second node; write broker.nodes: 2, or same"},
		{"subscribers: {selector: name = 3}", `f.yaml:1: subscribers.selector: "name = 3" is not possible; write for example id < 10000`},
		{"objectives: [{within: 5s}]", "f.yaml:1: objectives[0]: within and share go together: {within: 5s, share: 0.995}"},
		{"objectives: [{within: 5s, share: 99.5}]", "f.yaml:1: objectives[0].share: 99.5 is out of range; write one above 0, at most 1"},
		{"faults: [{at: 1s}]", "f.yaml:1: faults[0]: action is missing (kill (for good), stop (SIGSTOP, and SIGCONT after `for`), restart (killed, and started again after `for`).)"},
		{"faults: [{at: 1s, action: kill, node: 1}]", "f.yaml:1: faults[0].node: there is no node 1; nodes are counted from 0, and broker.nodes is 1"},
		{"faults: [{at: 1s, action: stop}]", "f.yaml:1: faults[0].for: stop needs a time; write for: 10s"},
		{"faults: [{at: 5m, action: kill}]", "f.yaml:1: faults[0].at: 5m is after the run's end at 2m"},
		{"faults: [{at: 1s, action: , for: 5s}]", "f.yaml:1: faults[0]: action is missing (kill (for good), stop (SIGSTOP, and SIGCONT after `for`), restart (killed, and started again after `for`).)"},
		{"name: 2026", "f.yaml:1: name: 2026 is no text; put it into quotes"},
		{"objectives: [{within: 5s, share: '0.5'}]", `f.yaml:1: objectives[0].share: "0.5" is no number; write one above 0, at most 1`},
		{"broker: {replicas: '3', nodes: 3}", `f.yaml:1: broker.replicas: "3" is not possible; write 1 or 3`},
		{"broker: {url: 'nats://me:sec,/ret@a'}", `f.yaml:1: broker.url: "nats://...@a" is not possible; write for example nats://localhost:4222 or kafka://one:9092,two:9092`},
		{"seed: 1\n---\nseed: 2", "f.yaml:2: a second scenario begins here; give each a file of its own"},
		{"faults: [{at: 9s, action: kill}, {at: 1s, action: stop, for: 9s}]", "f.yaml:1: faults[1]: happens to node 0 while faults[0] does; let the one end before the other begins"},
		{"{", "f.yaml: line 1: did not find expected node content"},
	} {
		_, err := Parse("f.yaml", []byte(c.yaml))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.yaml, err, c.want)
		}
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	_, err := Parse("f.yaml", []byte("seed: x\ngenerators: y\nname: ' '\n"))
	if n := len(strings.Split(err.Error(), "\n")); n != 3 {
		t.Errorf("%d lines instead of 3:\n%v", n, err)
	}
}

func TestChangesReplaceWhatTheFileSays(t *testing.T) {
	s, err := Parse("f.yaml", []byte("generators: 5\nbroker: {nodes: 1}\n"), "generators=7", "broker.nodes=3",
		"message.kind=batch", "objectives=[{max_lost: 2}]", "broker.nodes=2")
	if err != nil {
		t.Fatal(err)
	}
	if s.Generators != 7 || s.Broker.Nodes != 2 || s.Message.Kind != "batch" || *s.Objectives[0].MaxLost != 2 {
		t.Errorf("got %+v", s)
	}
}

func TestAMistakeInAChangeNamesTheChange(t *testing.T) {
	for change, want := range map[string]string{
		"generators=no":                 `--set generators=no: generators: "no" is no whole number; write one from 1 to 1000000`,
		"broker.node=3":                 "--set broker.node=3: broker.node: there is no such key; did you mean nodes?",
		"generators":                    "--set generators: write KEY=VALUE, such as --set generators=500 or --set broker.nodes=3",
		"broker.url=nats://me:secret@a": "--set broker.url=nats://...@a: broker.url: a URL with a password in it would end in reports; write user and password_file",
	} {
		if _, err := Parse("f.yaml", nil, change); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", change, err, want)
		}
	}
}

func TestAScenarioSurvivesJSONAndYAML(t *testing.T) {
	s, err := Parse("f.yaml", []byte("interval: 90s\ninitial_sleep: [10s, 1h]\nconnections: pooled:9\n"+
		"objectives: [{within: 5s, share: 0.5, max_lost: 0}]\nfaults: [{at: 1s, action: restart, for: 100ms}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var fromJSON Scenario
	if err := json.Unmarshal(text, &fromJSON); err != nil || !reflect.DeepEqual(s, fromJSON) {
		t.Errorf("%v\n got %+v\nwant %+v", err, fromJSON, s)
	}
	if text, err = yaml.Marshal(s); err != nil {
		t.Fatal(err)
	}
	fromYAML, err := Parse("f.yaml", text)
	if err != nil || !reflect.DeepEqual(s, fromYAML) {
		t.Errorf("%v\n got %+v\nwant %+v\n%s", err, fromYAML, s, text)
	}
}

func TestEveryFieldIsInTheSchemaAndBack(t *testing.T) {
	compare(t, "", reflect.TypeFor[Scenario](), root())
}

func compare(t *testing.T, path string, of reflect.Type, s *schema) {
	s = s.resolve()
	if s.Type == "array" && of.Kind() == reflect.Slice {
		of, s = of.Elem(), s.Items.resolve()
	}
	if s.Type != "object" {
		return
	}
	names := map[string]bool{}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
		names[name] = true
		if s.Properties[name] == nil {
			t.Errorf("%s.%s is not in the schema", path, name)
			continue
		}
		compare(t, path+"."+name, of.Field(i).Type, s.Properties[name])
	}
	for name := range s.Properties {
		if !names[name] {
			t.Errorf("%s.%s of the schema is no field", path, name)
		}
	}
}

func TestEveryBuiltInScenarioIsValidAndFoundByName(t *testing.T) {
	for _, name := range BuiltIn() {
		s, err := Load(name)
		if err != nil {
			t.Error(err)
		}
		if s.Name != name {
			t.Errorf("%s is called %s", name, s.Name)
		}
	}
}

func TestAFileIsReadAndAMissingOneExplained(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte("duration: 1h30m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil || s.Duration.Duration != 90*time.Minute || s.Name != "mine" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Load("no-such"); err == nil || !strings.Contains(err.Error(), "built-in scenarios, which are ") {
		t.Errorf("got %v", err)
	}
}

func TestAScenarioIsNotReadToItsEndIfItIsTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yaml")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("name: a"); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(1 << 40); err != nil { // a hole; to read it whole would take all memory
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || err.Error() != path+": a scenario has at most 1048576 bytes" {
		t.Errorf("got %v", err)
	}
}

func TestNamesThatAreHostileAreRefusedInAShortSentence(t *testing.T) {
	for _, name := range []string{"../../etc/passwd", "<b>", "a\x1b[2J", "\u202e", strings.Repeat("n", 1<<19), "a\nb", "--help", "$(reboot)"} {
		source, err := yaml.Marshal(map[string]string{"name": name})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse("hostile.yaml", source)
		if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\u202e") {
			t.Errorf("%.40q: got %.200q", name, err)
		}
	}
}
