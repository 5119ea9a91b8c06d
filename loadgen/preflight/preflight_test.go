package preflight_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/preflight"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	_ "lifeline/loadgen/transports" // registers them
)

var machine = preflight.Machine{Descriptors: 20_000, Files: 2_000_000, Ports: 28_232, Memory: 20 << 30, Tracked: math.MaxInt}

var (
	minimal = transport.Traits{Descriptors: 1, ClientBytes: 12 << 10, BrokerBytes: 55 << 10}
	franz   = transport.Traits{Descriptors: 3, ClientBytes: 130 << 10, BrokerBytes: 110 << 10}
)

func fleet(transport string, generators, nodes int) scenario.Scenario {
	return scenario.Scenario{Transport: transport, Generators: generators, Interval: scenario.Seconds(10),
		Broker: scenario.Broker{Nodes: nodes}}
}

func TestAFleetIsSpreadOverProcessesAndAddressesAsItsSizeNeeds(t *testing.T) {
	pooled := fleet("nats", 100_000, 1)
	pooled.Connections.Pool = 80
	asked := fleet("nats", 800, 1)
	asked.Workers, asked.Sources = 2, 4
	remote := fleet("nats", 25_000, 1)
	remote.Broker.URL = "nats://broker.example:4222"
	for name, c := range map[string]struct {
		scenario scenario.Scenario
		traits   transport.Traits
		want     preflight.Plan
	}{
		"the study's 800":                       {fleet("nats", 800, 1), minimal, preflight.Plan{Workers: 1, Sources: 1}},
		"the most that one server takes":        {fleet("nats", 19_800, 1), minimal, preflight.Plan{Workers: 1, Sources: 2}},
		"100,000 on six nodes":                  {fleet("nats", 100_000, 6), minimal, preflight.Plan{Workers: 6, Sources: 1}},
		"the most that one Kafka broker takes":  {fleet("kafka", 19_500, 1), minimal, preflight.Plan{Workers: 1, Sources: 2}},
		"three descriptors for each connection": {fleet("kafka", 19_000, 3), franz, preflight.Plan{Workers: 3, Sources: 2}},
		"pooled":                                {pooled, minimal, preflight.Plan{Workers: 1, Sources: 1}},
		"as asked":                              {asked, minimal, preflight.Plan{Workers: 2, Sources: 4}},
		"external broker":                       {remote, minimal, preflight.Plan{Workers: 2, Sources: 1}},
	} {
		plan, err := machine.Plan(c.scenario, c.traits)
		if err != nil || plan != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, plan, err, c.want)
		}
	}
}

func TestAFleetThatTheMachineCannotHoldIsRefusedWithTheNumbers(t *testing.T) {
	workers := fleet("nats", 50_000, 3)
	workers.Workers = 2
	sources := fleet("nats", 19_000, 1)
	sources.Sources = 1
	fewPorts := machine
	fewPorts.Ports = 10_000
	remote := fleet("nats", 30_000, 1)
	remote.Broker.URL = "nats://broker.example"
	failing := fleet("nats", 30_000, 2)
	failing.Faults = []scenario.Fault{{Node: 1, Action: "kill"}}
	often := fleet("nats", 10_000, 1)
	often.Interval = scenario.Duration{Duration: time.Millisecond}
	fewFiles := machine
	fewFiles.Files = 10_000
	fullTable := machine
	fullTable.Tracked = 9_000
	fewDescriptors := machine
	fewDescriptors.Descriptors = 64
	for name, c := range map[string]struct {
		machine  preflight.Machine
		scenario scenario.Scenario
		traits   transport.Traits
		cause    result.Cause
		numbers  []string
	}{
		"too many for a NATS node":     {machine, fleet("nats", 19_900, 1), minimal, result.Descriptors, []string{"19902", "19850", "19848 generators"}},
		"too many for a Kafka broker":  {machine, fleet("kafka", 10_000, 1), franz, result.Descriptors, []string{"30006", "19550"}},
		"too many while a node is out": {machine, failing, minimal, result.Descriptors, []string{"30004", "1 of 2 are down"}},
		"too few workers":              {machine, workers, minimal, result.Descriptors, []string{"50000", "workers: 3"}},
		"too few files":                {fewFiles, fleet("nats", 10_000, 1), minimal, result.Descriptors, []string{"fs.file-max"}},
		"not even a worker":            {fewDescriptors, fleet("nats", 1, 1), minimal, result.Descriptors, []string{"64", "ulimit -n"}},
		"too few addresses":            {fewPorts, sources, minimal, result.Ports, []string{"10000", "source_addresses: 2"}},
		"too few ports to elsewhere":   {machine, remote, minimal, result.Ports, []string{"30002", "28232"}},
		"too many to track":            {fullTable, fleet("nats", 9_000, 1), minimal, result.Conntrack, []string{"9000", "9001", "nf_conntrack_max"}},
		"too much to remember":         {machine, often, minimal, result.Memory, []string{"MiB", "longer interval"}},
	} {
		_, err := c.machine.Plan(c.scenario, c.traits)
		var refused *result.Failure
		if !errors.As(err, &refused) || refused.Cause != c.cause {
			t.Errorf("%s: %v; want the cause %s", name, err, c.cause)
			continue
		}
		for _, number := range c.numbers {
			if !strings.Contains(refused.Message, number) {
				t.Errorf("%s: %q does not tell %q", name, refused.Message, number)
			}
		}
	}
}

func TestEachAddressOfAMachineHasPortsForABrokerElsewhere(t *testing.T) {
	remote := fleet("nats", 100_000, 1)
	remote.Broker.URL = "nats://broker.example"
	large := machine
	large.Descriptors = 1_000_000
	for sources, says := range map[int]string{0: "an agent with 4 addresses", 3: "3 source addresses have 84696: 28232 each", 4: ""} {
		large.Sources = sources
		plan, err := large.Plan(remote, minimal)
		if says == "" && (err != nil || plan.Sources != sources) || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%d addresses: %+v, %v", sources, plan, err)
		}
	}
}

func TestThisMachinesLimitsAreRead(t *testing.T) {
	found, err := preflight.Read()
	if err != nil {
		t.Fatal(err)
	}
	if found.Descriptors < 64 || found.Files < 64 || found.Ports < 64 || found.Memory < 1<<20 || found.Tracked < 64 {
		t.Errorf("%+v is not what a machine has that runs this test", found)
	}
}
