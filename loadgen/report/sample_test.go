package report

import (
	"math"
	"math/rand/v2"
	"time"

	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	_ "lifeline/loadgen/transports" // registers them
)

// sample is a run as a fleet of 800 on core NATS gives it, slower by a factor, with a node killed in the middle.
func sample(name string, connections int, factor float64) result.Result {
	random := rand.New(rand.NewPCG(uint64(connections), 7))
	drawn := func(median, spread float64) result.Distribution {
		var r measure.Recorder
		for range 20_000 {
			r.Record(int64(median * factor * math.Exp(random.NormFloat64()*spread)))
		}
		return r.Distribution()
	}
	negative := func() result.Distribution {
		var r measure.Recorder
		for range 20_000 {
			r.Record(int64((random.NormFloat64()*30 - 8) * 1000))
		}
		return r.Distribution()
	}
	r := result.Result{
		Format:  result.Format,
		Started: time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC), Elapsed: 2 * time.Minute,
		Machine: result.Machine{CPU: "AMD EPYC", Cores: 2, Memory: 25e9, Kernel: "Linux 6.1"},
		Client:  "nats.go 1.55.0", Valid: true,
		Counts: result.Counts{Connections: connections, Sent: 9600, Received: 9598, Lost: 2, Unacknowledged: 2, Acknowledged: 9598},
		Bytes:  result.Bytes{PerMessage: 131, PerEvent: 131},
		Times: result.Times{
			RTT: drawn(240_000, 0.4), ServiceTime: drawn(180_000, 0.35), PRT: drawn(110_000, 0.3), PT: negative(), SRT: drawn(60_000, 0.5),
			Lateness: drawn(60_000, 0.2), Connect: drawn(900_000, 0.3), FirstDelivery: drawn(300_000, 0.3),
		},
		Slowest: []result.Trip{
			{Generator: 1234, Sequence: 5, At: 60.25, RTT: 3_600_000_000}, {Generator: 17, Sequence: 6, At: 61.5, RTT: 2_350_000_000},
		},
		Resources: result.Resources{
			Broker: result.Usage{Processes: 3, CPU: 0.12, BaseRSS: 60e6, PeakRSS: 60e6 + int64(connections)*55_000, PerConnection: 55_000},
			Client: result.Usage{Processes: 2, CPU: 0.08, BaseRSS: 30e6, PeakRSS: 30e6 + int64(connections)*46_000, PerConnection: 46_000},
			Idle:   0.93 - float64(connections)/1e5, VmstatMemory: int64(connections) * 120_000,
		},
		Noise: result.Noise{HiccupP998: 90_000, HiccupMax: 2_000_000, RunQueueWait: 9_000, Others: 0.05},
		Broker: result.BrokerCounters{Before: result.Counters{Name: "NATS 2.15.2"}, After: result.Counters{Name: "NATS 2.15.2", In: 9600, Out: 9598, Connections: 802},
			Compared: true, Agree: true, Sentence: "the broker took 9,600 messages and gave 9,598, as we counted"},
		Faults: []result.Outage{{At: 60, LastBefore: 60, FirstAfter: 62.5, Recovered: 64, LostDuring: 2,
			Fault: scenario.Fault{At: scenario.Duration{Duration: time.Minute}, Node: 1, Action: "kill"}}},
		Goals: []result.Goal{{Objective: scenario.Objective{Within: scenario.Duration{Duration: 5 * time.Second}, Share: 0.995}, Share: 0.9998, Met: true}},
	}
	r.Scenario = scenario.Scenario{Name: name, Generators: connections, Interval: scenario.Duration{Duration: 10 * time.Second},
		Duration: scenario.Duration{Duration: 2 * time.Minute}, Transport: "nats", Ack: "none", Broker: scenario.Broker{Nodes: 3},
		Message: scenario.Message{Kind: "raw", Multiple: 1}}
	for second := range 120 {
		s := result.Second{At: float64(second), Connections: connections, Sent: 80, Received: 80, P50: int64(factor * 180_000), P99: int64(factor * 380_000),
			Max: int64(factor * (500_000 + 500_000*random.Float64())), Idle: 0.9, BrokerCPU: 0.12, ClientCPU: 0.08, UsedMemory: 900e6}
		switch {
		case second >= 60 && second < 63:
			s.Received, s.P50, s.P99, s.Max, s.Lost = 0, 0, 0, 0, 1
		case second == 63:
			s.Received, s.P99, s.Max = 310, 3_500_000_000, 3_600_000_000
		}
		r.Timeline = append(r.Timeline, s)
	}
	return r
}
