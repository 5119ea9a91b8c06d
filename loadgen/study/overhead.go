package study

import "lifeline/loadgen/spread"

// overheadRow is the aim that takes two points: the fleet's times beside those of a bare client. The aim is about p50; p99.8 says
// what it does not promise.
func overheadRow(p *page) []string {
	const what, aim, most = "harness overhead: RTT against a bare ping-pong of the same client", "within 10 % at p50", 1.1
	both := p.measured("overhead-bare", "overhead-fleet")
	if len(both) < 2 {
		return padded(6, what, aim, "not measured")
	}
	bare, fleet := both[0], both[1]
	c := Compare(bare, fleet, rtt(50))
	met := verdict(c.Most <= most, bare.Valid && fleet.Valid)
	if noise := within95(c, most); noise != "" {
		met = "not shown: " + noise
	}
	return []string{what, aim, "p50 " + overhead(bare, fleet, 50) + "; p99.8 " + overhead(bare, fleet, 99.8), met, calmCell(fleet), fleet.runs()}
}

// within95 says why a ratio does not tell whether it is above a limit; empty where it does.
func within95(c spread.Change, limit float64) string {
	switch {
	case c.LeastP >= spread.Level:
		return "too few runs to tell"
	case c.Least <= limit && limit < c.Most:
		return "within noise"
	}
	return ""
}
