package study

// overheadRow is the aim that takes two points: the fleet's times beside those of a bare client. The aim is about p50; p99.8 says
// what it does not promise.
func overheadRow(p *page) []string {
	const what, aim = "harness overhead: RTT against a bare ping-pong of the same client", "within 10 % at p50"
	both := p.measured("overhead-bare", "overhead-fleet")
	if len(both) < 2 {
		return []string{what, aim, "not measured", "", "", ""}
	}
	bare, fleet := both[0], both[1]
	const limit = 1.1
	c := Compare(bare, fleet, rtt(50))
	judged := verdict(c.Ratio <= limit, bare.Valid && fleet.Valid)
	if c.Least <= limit && limit <= c.Most {
		judged += ", too close to the limit for these runs to tell"
	}
	return []string{what, aim, "p50 " + overhead(bare, fleet, 50) + "; p99.8 " + overhead(bare, fleet, 99.8), judged, calmCell(fleet), fleet.runs()}
}
