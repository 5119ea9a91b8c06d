package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
)

const host = "127.0.0.1"

// lowestPort is where the search for free ports begins.
const lowestPort = 10_000

// freePorts finds ports that nobody listens on. They lie below those that the kernel gives to outgoing connections: a
// fleet's own connection would otherwise take the port of a node that is down, and the node could not come back.
func freePorts(count int) ([]int, error) {
	end, err := firstEphemeralPort()
	if err != nil {
		return nil, err
	}
	if end <= lowestPort {
		return nil, fmt.Errorf("finding free ports: net.ipv4.ip_local_port_range begins at %d, "+
			"which leaves no ports from %d on for a broker", end, lowestPort)
	}
	ports := make([]int, 0, count)
	span := end - lowestPort
	offset := rand.IntN(span)
	for i := 0; i < span && len(ports) < count; i++ {
		port := lowestPort + (offset+i)%span
		listener, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", host, port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return nil, fmt.Errorf("releasing port %d: %w", port, err)
		}
		ports = append(ports, port)
	}
	if len(ports) < count {
		return nil, fmt.Errorf("finding free ports: only %d of %d between %d and %d", len(ports), count, lowestPort, end-1)
	}
	return ports, nil
}

func firstEphemeralPort() (int, error) {
	const file = "/proc/sys/net/ipv4/ip_local_port_range"
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("finding free ports: %w", err)
	}
	var first, last int
	if _, err := fmt.Sscan(strings.TrimSpace(string(content)), &first, &last); err != nil {
		return 0, fmt.Errorf("reading %s: %w", file, errors.Join(err))
	}
	return first, nil
}

func address(port int) string { return fmt.Sprintf("%s:%d", host, port) }
