// Package ports finds places for servers to listen on.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Host is the address of this machine that servers listen on.
const Host = "127.0.0.1"

// Servers listen on ports in between.
const lowestPort, highestPort = 10_000, 65_535

// Free finds ports that nobody listens on, each another one. They lie outside of those that the kernel gives to outgoing
// connections: a fleet's own connection would otherwise take the port of a node that is down, and the node could not come
// back.
func Free(count int) ([]int, error) {
	first, last, err := ephemeralPorts()
	if err != nil {
		return nil, err
	}
	from, to := serverPorts(first, last)
	found := make([]int, 0, count)
	span := to - from + 1
	offset := rand.IntN(span)
	for i := 0; i < span && len(found) < count; i++ {
		port := from + (offset+i)%span
		listener, err := net.Listen("tcp4", Address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return nil, fmt.Errorf("releasing port %d: %w", port, err)
		}
		found = append(found, port)
	}
	if len(found) < count {
		return nil, fmt.Errorf("finding free ports: only %d of %d between %d and %d", len(found), count, from, to)
	}
	return found, nil
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

// Address is the place of a port of this machine, as host:port.
func Address(port int) string { return fmt.Sprintf("%s:%d", Host, port) }
