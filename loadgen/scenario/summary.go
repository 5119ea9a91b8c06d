package scenario

import (
	"fmt"
	"strings"
)

// Summary is the scenario in one line, for listings and live views.
func (s *Scenario) Summary() string {
	where := s.Broker.URL
	if where == "" {
		where = fmt.Sprintf("embedded, %d nodes", s.Broker.Nodes)
		if s.Broker.Nodes == 1 {
			where = "embedded"
		}
	}
	transport := s.Transport
	if len(s.Kind().Acknowledgements) > 1 {
		transport += ", acknowledgement " + string(s.Ack)
	}
	parts := []string{
		fmt.Sprintf("%d generators every %s", s.Generators, s.Interval),
		transport + " (" + where + ")",
		s.Client + " client",
		s.Connections.String() + " connections",
		"for " + Duration{s.Span()}.String(),
	}
	for _, fault := range s.Faults {
		parts = append(parts, fmt.Sprintf("%s of node %d at %s", fault.Action, fault.Node, fault.At))
	}
	return strings.Join(parts, ", ")
}
