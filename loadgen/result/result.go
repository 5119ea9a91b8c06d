// Package result is what a run found: the one structure that the report, the comparison and the study read, and the JSON that
// `fleet run` writes. Times are nanoseconds, sizes bytes.
package result

import (
	"time"

	"lifeline/loadgen/scenario"
)

// Format is the version of the JSON. Version 1 named the service time rtt.
const Format = 2

// Result is one run.
type Result struct {
	Format   int               `json:"format"` // of this JSON: Format
	Scenario scenario.Scenario `json:"scenario"`
	Started  time.Time         `json:"started"`
	Origin   time.Time         `json:"first_message"`             // when the first message was sent, which seconds are counted from
	First    int               `json:"first_generator,omitempty"` // its number
	Elapsed  time.Duration     `json:"elapsed_ns"`
	Machine  Machine           `json:"machine"`
	Client   string            `json:"client"`  // the client library and its version
	Partial  bool              `json:"partial"` // ended by Ctrl-C
	Valid    bool              `json:"valid"`
	Invalid  []string          `json:"invalid,omitempty"` // why times or counts are not to be trusted

	// Disputed are those of Invalid that are not the machine's: messages that were due and are not in the counts, and broker's
	// counters that differ from ours. `fleet run` exits with 3 then.
	Disputed []string `json:"disputed,omitempty"`

	Failure *Failure `json:"failure,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // examples of client errors, and unclean shutdowns

	Counts Counts `json:"counts"`
	Bytes  Bytes  `json:"bytes"`
	Times  Times  `json:"times"`

	Slowest   []Trip         `json:"slowest,omitempty"` // the slowest deliveries that are in Times.RTT, the slowest first
	Missing   []Missing      `json:"missing,omitempty"` // at most 1,000 of the lost deliveries
	Timeline  []Second       `json:"timeline"`
	Resources Resources      `json:"resources"`
	Noise     Noise          `json:"noise"`
	Stalls    Stalls         `json:"stalls"`
	Broker    BrokerCounters `json:"broker"`
	Faults    []Outage       `json:"faults,omitempty"`
	Goals     []Goal         `json:"objectives,omitempty"`
	Hosts     []Host         `json:"hosts,omitempty"` // of a fleet on several machines
}

// Counts are messages. sent = received + lost where there is one subscriber; all figures come from sequence numbers.
type Counts struct {
	Connections      int    `json:"connections"`
	Sent             uint64 `json:"sent"`
	Failed           uint64 `json:"failed"` // publishes that returned an error: not sent
	Acknowledged     uint64 `json:"acknowledged"`
	Refused          uint64 `json:"refused"`  // acknowledged with an error: the broker may have it or not
	Received         uint64 `json:"received"` // each message once per subscriber
	Lost             uint64 `json:"lost"`     // the sum of the five that follow
	Unacknowledged   uint64 `json:"lost_unacknowledged"`
	LostAcknowledged uint64 `json:"lost_acknowledged"`
	Undelivered      uint64 `json:"lost_undelivered"`
	Away             uint64 `json:"lost_subscriber_away"`
	Unclear          uint64 `json:"lost_unclear"`
	Duplicated       uint64 `json:"duplicated"`
	Reordered        uint64 `json:"reordered"`  // arrived after a later one of the same generator
	Late             uint64 `json:"late"`       // arrived after the histogram's end (120 s); counted as lost
	Unselected       uint64 `json:"unselected"` // arrived and not selected by the subscriber
	Foreign          uint64 `json:"foreign"`    // bytes that are no message of this run
	Skipped          uint64 `json:"skipped"`    // not published because the generator was still busy with earlier ones
}

// LossKind says whose loss a missing delivery is.
type LossKind string

// The kinds of losses, in the order in which they are tried.
const (
	Unacknowledged LossKind = "unacknowledged"  // the broker did not acknowledge the message: it may never have had it
	SubscriberAway LossKind = "subscriber-away" // the fleet's own subscription was not in force, and the broker keeps nothing for it
	Unclear        LossKind = "unclear"         // sent within a second before or after that: the broker's loss, or the fleet's own
	Acknowledged   LossKind = "acknowledged"    // the broker acknowledged it, and did not deliver it
	Undelivered    LossKind = "undelivered"     // the same where the transport does not acknowledge
)

// LostAs is the counter of a kind.
func (c *Counts) LostAs(kind LossKind) *uint64 {
	switch kind {
	case Unacknowledged:
		return &c.Unacknowledged
	case SubscriberAway:
		return &c.Away
	case Unclear:
		return &c.Unclear
	case Acknowledged:
		return &c.LostAcknowledged
	default:
		return &c.Undelivered
	}
}

// Unsent is the number of messages that were due and not published.
func (c Counts) Unsent() uint64 { return c.Failed + c.Skipped }

// Bytes travel as payload; a batch carries many events in one message.
type Bytes struct {
	PerMessage float64 `json:"per_message"`
	PerEvent   float64 `json:"per_event"`
}

// Times are what a run measured, of the messages of its measured span.
//
// A round trip begins when the message was due, whether or not the generator could send it then. A client that blocks, or a
// machine that stands still, delays the messages behind: timed from the actual send they look fast, and the ones that were never
// sent do not appear at all (coordinated omission: G. Tene, "How NOT to Measure Latency", 2013; the correction by an intended
// schedule is wrk2's and HdrHistogram's). Headline, objectives, grades, aims and comparisons all use RTT.
//
// ServiceTime begins with the actual send. It is what the study of package loadgen/study calls RTT, and the sum of its three
// parts: PRT, from before sending to after sending; PT, from there to before receiving, negative where the message is there
// before the call returns; SRT, to after receiving.
//
// The times without stalls are those of the messages that were under way, from due to after receiving, in none of Result.Stalls. They
// show what the machine adds, and are empty where it added nothing. No goal, grade or verdict uses them: what delayed a message may
// have been load of broker or fleet that the probes take for a stall.
type Times struct {
	RTT         Distribution `json:"rtt"`          // from the time when it was due to after receiving
	ServiceTime Distribution `json:"service_time"` // from before sending to after receiving

	RTTWithoutStalls         Distribution `json:"rtt_without_stalls,omitzero"`
	ServiceTimeWithoutStalls Distribution `json:"service_time_without_stalls,omitzero"`

	WarmUpRTT     Distribution `json:"warm_up_rtt"`
	PRT           Distribution `json:"prt"`
	PT            Distribution `json:"pt"`
	SRT           Distribution `json:"srt"`
	Acknowledged  Distribution `json:"acknowledged"` // before sending to the acknowledgement
	Lateness      Distribution `json:"lateness"`     // intended time, or return of a client that blocks from the message before, to before sending: the harness's own fault
	Connect       Distribution `json:"connect"`
	FirstDelivery Distribution `json:"first_delivery"` // a generator's first publish to the first delivery of a message of it
	Subscribe     Distribution `json:"subscribe"`      // a subscriber's subscribe call to its first delivery
}

// Distribution is a measured quantity. Mean and StdDev are exact, percentiles come from the histogram.
type Distribution struct {
	Count       int64        `json:"count"`
	Mean        float64      `json:"mean_ns"`
	StdDev      float64      `json:"stddev_ns"`
	Min         int64        `json:"min_ns"`
	Max         int64        `json:"max_ns"`
	Percentiles []Percentile `json:"percentiles"`
	Histogram   string       `json:"histogram,omitempty"`          // HdrHistogram V2, compressed, base64; of the values that are not negative
	Negative    int64        `json:"negative,omitempty"`           // values below zero, counted into the percentiles
	Negatives   string       `json:"negative_histogram,omitempty"` // likewise, of their magnitudes
	Clamped     int64        `json:"clamped,omitempty"`            // values beyond the histogram's range of 120 s
	Sum         string       `json:"sum_ns,omitempty"`             // exact, so that mean and deviation of merged runs are; decimal
	Squares     string       `json:"sum_of_squares_ns2,omitempty"` // likewise
}

// Percentile pairs a percentage with its value.
type Percentile struct {
	Percent float64 `json:"percent"`
	Value   int64   `json:"value_ns"`
}

// Trip is one delivery of one message.
type Trip struct {
	Generator uint32  `json:"generator"`
	Sequence  uint32  `json:"sequence"` // the generator's first message is 0
	At        float64 `json:"at_s"`     // when it was due, since the first message was sent
	RTT       int64   `json:"rtt_ns"`
	Service   int64   `json:"service_ns"` // of that, from before sending
}

// Missing is a delivery that did not come.
type Missing struct {
	Generator uint32   `json:"generator"`
	Sequence  uint32   `json:"sequence"`
	At        float64  `json:"at_s"` // when it was sent, since the first message
	Kind      LossKind `json:"kind"`
}

// At is one of the listed percentiles; 0 where the percentage is not listed or nothing was measured.
func (d Distribution) At(percent float64) int64 {
	for _, p := range d.Percentiles {
		if p.Percent == percent {
			return p.Value
		}
	}
	return 0
}

// Second is one second of the run.
type Second struct {
	At           float64 `json:"at_s"` // since the first message
	Connections  int     `json:"connections"`
	Sent         uint64  `json:"sent"`
	Acknowledged uint64  `json:"acknowledged"`
	Received     uint64  `json:"received"`
	Failed       uint64  `json:"failed"`
	Lost         uint64  `json:"lost"` // of those sent in this second, those that never arrived
	P50          int64   `json:"p50_ns"`
	P99          int64   `json:"p99_ns"`
	Max          int64   `json:"max_ns"`
	Idle         float64 `json:"idle"`        // share of the machine's CPU, 0 to 1
	BrokerCPU    float64 `json:"broker_cpu"`  // cores
	ClientCPU    float64 `json:"client_cpu"`  // cores
	UsedMemory   int64   `json:"used_memory"` // of the machine, as vmstat counts it
}

// Machine is where it ran.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memory"`
	Kernel string `json:"kernel"`
}

// Resources are what broker and client took.
type Resources struct {
	Broker       Usage   `json:"broker"`
	Client       Usage   `json:"client"`
	Idle         float64 `json:"idle"`          // vmstat's id, mean over the run, 0 to 1
	VmstatMemory int64   `json:"vmstat_memory"` // the study's definition: peak minus bottom of used memory
}

// Usage of the processes of one side.
type Usage struct {
	Processes     int     `json:"processes"`
	CPU           float64 `json:"cpu"` // cores, mean over the run
	PeakRSS       int64   `json:"peak_rss"`
	BaseRSS       int64   `json:"base_rss"`       // before the first connection
	PerConnection float64 `json:"per_connection"` // (peak - base) / connections
}

// Noise is what else happened on the machine; thresholds are in package host.
type Noise struct {
	HiccupP998   int64   `json:"hiccup_p998_ns"` // how late a thread wakes that has nothing else to do, on the worst core
	HiccupMax    int64   `json:"hiccup_max_ns"`
	RunQueueWait float64 `json:"run_queue_wait_ns"` // mean time that a ready thread of broker or fleet waited for a core
	Steal        float64 `json:"steal"`             // share of the CPU that the hypervisor kept
	Others       float64 `json:"others"`            // cores that processes outside broker and fleet used

	Busiest []Process `json:"busiest,omitempty"` // of those others, the most first; few, and none that hardly did anything. Not for publication
	Unseen  []string  `json:"unseen,omitempty"`  // gauges that could not be read, as sentences; theirs are 0 above
}

// Stalls are the times in the measured span in which a core of the machine stood still for StallTime of package host or longer. Those
// of several cores that overlap are one.
type Stalls struct {
	Count   int     `json:"count"`
	Total   int64   `json:"total_ns"`
	Longest []Stall `json:"longest,omitempty"` // up to a hundred, the longest first
}

// Stall is one of them.
type Stall struct {
	At     float64 `json:"at_s"` // since the first message was sent
	Length int64   `json:"length_ns"`
}

// Process is one that was neither broker nor fleet.
type Process struct {
	Name  string  `json:"name"`
	ID    int     `json:"pid"`
	Cores float64 `json:"cores"` // mean over the run
}

// BrokerCounters are the broker's own counters before and after the run.
type BrokerCounters struct {
	Before   Counters `json:"before"`
	After    Counters `json:"after"`
	Compared bool     `json:"compared"` // false: unknown whether they agree
	Agree    bool     `json:"agree"`
	Sentence string   `json:"sentence"` // what was compared, and what it gave; or why they could not be compared
}

// Verdict is "agree", "differ" or "unknown".
func (b BrokerCounters) Verdict() string {
	switch {
	case !b.Compared:
		return "unknown"
	case b.Agree:
		return "agree"
	}
	return "differ"
}

// Counters are a broker's own figures, summed over its nodes; a figure that the broker does not have is -1.
type Counters struct {
	Name        string `json:"name"` // "NATS 2.15.2", "Kafka 4.3.1"
	Connections int64  `json:"connections"`
	In          int64  `json:"in"`      // messages taken from clients
	Out         int64  `json:"out"`     // messages given to clients
	Stored      int64  `json:"stored"`  // messages in streams or topics of the run
	Dropped     int64  `json:"dropped"` // by slow-consumer rules and the like
	Routed      int64  `json:"routed"`  // bytes that went between nodes
	Nodes       []Node `json:"nodes"`
}

// Node is one node's share, for what has to be seen apart.
type Node struct {
	Name        string `json:"name,omitempty"`     // as it names itself; empty if it did not answer
	Instance    string `json:"instance,omitempty"` // another one after a restart
	In          int64  `json:"in"`                 // messages of clients
	Out         int64  `json:"out"`
	RoutedBytes int64  `json:"routed_bytes"` // sent to other nodes
}

// Outage is a fault and what it did. Times are seconds since the first message; 0: not before the end.
type Outage struct {
	Fault        scenario.Fault `json:"fault"`
	At           float64        `json:"at_s"`
	LastBefore   float64        `json:"last_delivery_before_s"` // where the longest silence began
	FirstAfter   float64        `json:"first_delivery_after_s"` // where it ended; the same where there was none
	Recovered    float64        `json:"recovered_s"`            // deliveries at nine tenths of the rate before, and none held up any more
	LostDuring   uint64         `json:"lost"`                   // messages sent from the fault to the recovery that never arrived
	FailedDuring uint64         `json:"failed"`
}

// Recovery is the seconds from the fault to the recovery; false where there was none before the end.
func (o Outage) Recovery() (seconds float64, ok bool) {
	return max(0, o.Recovered-o.At), o.Recovered > 0
}

// Silence is the seconds of the longest silence; false where it lasted to the end.
func (o Outage) Silence() (seconds float64, ended bool) {
	return max(0, o.FirstAfter-o.LastBefore), o.FirstAfter > 0
}

// Goal is an objective and whether it was met.
type Goal struct {
	Objective scenario.Objective `json:"objective"`
	Share     float64            `json:"share"`
	Met       bool               `json:"met"`
}

// Failure is why a fleet could not do what its scenario asks.
type Failure struct {
	Cause   Cause  `json:"cause"`
	Message string `json:"message"` // with the numbers, and what to do
}

// Error makes a failure an error.
func (f *Failure) Error() string { return f.Message }

// Broke reports whether the fleet did not get to its end; one that missed its objectives did.
func (r Result) Broke() bool { return r.Failure != nil && r.Failure.Cause != Objective }

// Cause is one of a few, so that a study can count them.
type Cause string

// The causes.
const (
	Descriptors   Cause = "descriptors"
	Ports         Cause = "ports"
	Memory        Cause = "memory"
	Conntrack     Cause = "conntrack" // the kernel's table of tracked connections
	AcceptTimeout Cause = "accept-timeout"
	Refused       Cause = "refused" // the broker answered no: credentials, limits
	BrokerExit    Cause = "broker-exit"
	WorkerExit    Cause = "worker-exit"
	Objective     Cause = "missed-objective"
	TimeLimit     Cause = "time-limit" // of a study's point
	SetUp         Cause = "set-up"     // what a fleet needs was not there
)
