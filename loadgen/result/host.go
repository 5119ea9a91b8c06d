package result

// Host is one machine of a fleet that ran on several: its share, and how it fared. A run is valid if it is on all hosts.
type Host struct {
	Name       string   `json:"name"`
	Machine    Machine  `json:"machine"`
	Generators int      `json:"generators"`
	Workers    int      `json:"workers"`
	Sources    []string `json:"source_addresses,omitempty"` // empty: its only one, or loopback addresses

	// The host's CLOCK_MONOTONIC was ahead of the coordinator's by these. All times of a result are the coordinator's, by the first.
	ClockBegin Offset `json:"clock_begin"`
	ClockEnd   Offset `json:"clock_end"`

	Counts    Counts       `json:"counts"`
	RTT       Distribution `json:"rtt"`
	Lateness  Distribution `json:"lateness"`
	Resources Resources    `json:"resources"`
	Noise     Noise        `json:"noise"`
	Invalid   []string     `json:"invalid,omitempty"` // which are among the result's, behind the host's name
}

// Offset is the difference of two clocks, and by how much it may be wrong at most.
type Offset struct {
	Nanos int64 `json:"ns"`
	Error int64 `json:"error_ns"`
}
