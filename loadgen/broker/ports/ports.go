// Package ports finds free ports for servers.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Host is the address of this machine that servers listen on.
const Host = "127.0.0.1"

// Servers listen on ports in between.
const lowestPort, highestPort = 10_000, 65_535

// Reservation holds ports for this process and its children until closed. While its server is down, a port refuses
// connections, and no other process gets it as a free port.
type Reservation struct {
	Ports   []int
	sockets []int
}

// Reserve finds free ports outside the ephemeral range: otherwise one of the fleet's own outgoing connections could
// take the port of a node that is down.
func Reserve(count int) (*Reservation, error) {
	from, to, err := portsForServers()
	if err != nil {
		return nil, err
	}
	reserved := &Reservation{}
	span := to - from + 1
	offset := rand.IntN(span)
	for i := 0; i < span && len(reserved.Ports) < count; i++ {
		port := from + (offset+i)%span
		switch socket, err := reserve(port); {
		case err == nil:
			reserved.Ports, reserved.sockets = append(reserved.Ports, port), append(reserved.sockets, socket)
		case !errors.Is(err, unix.EADDRINUSE):
			reserved.Close()
			return nil, fmt.Errorf("reserving port %d: %w", port, err)
		}
	}
	if found := len(reserved.Ports); found < count {
		reserved.Close()
		return nil, fmt.Errorf("finding free ports: only %d of %d between %d and %d", found, count, from, to)
	}
	return reserved, nil
}

// reserve binds a socket that never listens. Binding without SO_REUSEADDR fails if any other socket has the port; setting the
// option afterwards lets a server bind the port too, since servers set it themselves.
func reserve(port int) (socket int, err error) {
	socket, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = unix.Bind(socket, &unix.SockaddrInet4{Port: port, Addr: [4]byte(net.ParseIP(Host).To4())})
	if err == nil {
		err = unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err != nil {
		_ = unix.Close(socket)
	}
	return socket, err
}

// Close gives the ports back.
func (r *Reservation) Close() {
	for _, socket := range r.sockets {
		_ = unix.Close(socket)
	}
	r.sockets = nil
}

// portsForServers is the range that the test runner assigned to this stage, or serverPorts.
func portsForServers() (from, to int, err error) {
	if given := os.Getenv("LIFELINE_TEST_PORTS"); given != "" {
		if _, err := fmt.Sscanf(given, "%d-%d", &from, &to); err != nil || from > to {
			return 0, 0, fmt.Errorf("finding free ports: LIFELINE_TEST_PORTS=%s is not FIRST-LAST", given)
		}
		return from, to, nil
	}
	first, last, err := ephemeralPorts()
	if err != nil {
		return 0, 0, err
	}
	from, to = serverPorts(first, last)
	return from, to, nil
}

// serverPorts is the larger range below or above the ephemeral ports. Without either, ephemeral ports are used; a
// restarted node may then find its port taken.
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
