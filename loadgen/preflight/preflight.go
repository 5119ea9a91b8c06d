// Package preflight plans a fleet's processes and source addresses.
package preflight

import (
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
)

// Plan is how a fleet is spread.
type Plan struct{ Workers, Sources int }

// Check plans the scenario.
func Check(s scenario.Scenario, _ transport.Traits) (Plan, error) {
	return Plan{Workers: max(1, s.Workers, (s.Generators+14_999)/15_000), Sources: max(1, s.Sources, (s.Generators+24_999)/25_000)}, nil
}
