package study

import (
	"fmt"

	"lifeline/loadgen/format"
)

// overheadRow is the aim that takes two points: the fleet's median beside that of a bare client.
func overheadRow(p *page) []string {
	const what, aim = "harness overhead: RTT against a bare ping-pong of the same client", "within 10 % at p50"
	both := p.measured("overhead-bare", "overhead-fleet")
	if len(both) < 2 {
		return []string{what, aim, "not measured", "", ""}
	}
	bare, fleet := both[0].Times.RTT.At(50), both[1].Times.RTT.At(50)
	more := float64(fleet)/float64(bare) - 1
	return []string{what, aim, fmt.Sprintf("%s against %s: %s %%", ms(fleet), ms(bare), format.Number(100*more)),
		verdict(more <= 0.1, both[0].Valid && both[1].Valid), both[1].Form}
}
