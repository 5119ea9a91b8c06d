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
	if offered := acknowledgements[s.Transport]; len(offered) > 1 {
		transport += " acknowledged by " + string(s.Ack)
		if s.Ack == "none" {
			transport = s.Transport + " unacknowledged"
		}
	}
	parts := []string{
		fmt.Sprintf("%d generators every %s", s.Generators, s.Interval),
		fmt.Sprintf("%s (%s)", transport, where),
		fmt.Sprintf("%s client", s.Client),
		s.Connections.String() + " connections",
		"for " + Duration{s.Span()}.String(),
	}
	if n := len(s.Faults); n > 0 {
		parts = append(parts, fmt.Sprintf("%d faults", n))
	}
	return strings.Join(parts, ", ")
}
