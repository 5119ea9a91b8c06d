package broker

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

const host = "127.0.0.1"

// Servers listen on ports in between.
const lowestPort, highestPort = 10_000, 65_535

// freePorts finds ports that nobody listens on. They lie outside of those that the kernel gives to outgoing connections: a
// fleet's own connection would otherwise take the port of a node that is down, and the node could not come back.
func freePorts(count int) ([]int, error) {
	first, last, err := ephemeralPorts()
	if err != nil {
		return nil, err
	}
	from, to := serverPorts(first, last)
	ports := make([]int, 0, count)
	span := to - from + 1
	offset := rand.IntN(span)
	for i := 0; i < span && len(ports) < count; i++ {
		port := from + (offset+i)%span
		listener, err := net.Listen("tcp4", address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return nil, fmt.Errorf("releasing port %d: %w", port, err)
		}
		ports = append(ports, port)
	}
	if len(ports) < count {
		return nil, fmt.Errorf("finding free ports: only %d of %d between %d and %d", len(ports), count, from, to)
	}
	return ports, nil
}

// serverPorts are those below the ephemeral ones, or above them where that is more. Machines that are set up for many
// connections leave none; then a node that was down may find its port taken, which is better than no broker at all.
func serverPorts(first, last int) (from, to int) {
	const enough = 1000 // for several clusters to look for ports at the same time
	switch below, above := first-lowestPort, highestPort-last; {
	case below >= enough && below >= above:
		return lowestPort, first - 1
	case above >= enough:
		return last + 1, highestPort
	}
	return lowestPort, highestPort
}

func ephemeralPorts() (first, last int, err error) {
	const file = "/proc/sys/net/ipv4/ip_local_port_range"
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, fmt.Errorf("finding free ports: %w", err)
	}
	if _, err := fmt.Sscan(string(content), &first, &last); err != nil {
		return 0, 0, fmt.Errorf("finding free ports: reading %s: %w", file, err)
	}
	return first, last, nil
}

func address(port int) string { return fmt.Sprintf("%s:%d", host, port) }
