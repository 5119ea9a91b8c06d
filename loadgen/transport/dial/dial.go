// Package dial opens the connections of a fleet. It spreads them over several source addresses, because one address has
// ports for about 28,000 connections to the same server; it stamps arrivals; and it names the cause when a machine or a
// broker takes no more of them.
package dial

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/clock"
)

// MaxSources is how many source addresses there may be: 127.0.0.1 to 127.0.0.254.
const MaxSources = 254

// Dialer implements transport.Dialer. Any number of goroutines may use one.
type Dialer struct {
	sources   int      // loopback addresses
	addresses []net.IP // of this machine, for servers elsewhere
	timeout   time.Duration
	dialled   atomic.Uint64
}

// New returns a dialer that takes its source addresses from 127.0.0.1 to 127.0.0.sources in turn, and gives up on a
// connection after timeout. Only connections to loopback addresses get a source; elsewhere the kernel chooses.
func New(sources int, timeout time.Duration) *Dialer {
	return &Dialer{sources: min(max(sources, 1), MaxSources), timeout: timeout}
}

// From is New for a machine with several addresses: connections that leave it take the first so many of them in turn, all of which
// must be configured there.
func From(addresses []string, sources int, timeout time.Duration) (*Dialer, error) {
	d := New(sources, timeout)
	for _, text := range addresses[:min(len(addresses), d.sources)] {
		ip := net.ParseIP(text)
		if ip == nil {
			return nil, fmt.Errorf("%q is no IP address", text)
		}
		d.addresses = append(d.addresses, ip)
	}
	return d, nil
}

// DialContext returns a *Conn. Its errors are those of Classify.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	// The brokers' own pings find dead peers; TCP's probes of 20,000 idle connections would only be noise in a measurement.
	dialer := net.Dialer{Timeout: d.timeout, KeepAlive: -1}
	if source := d.source(address); source != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: source}
		dialer.Control = choosePortAtConnect
	}
	connection, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, Classify(address, err)
	}
	return &Conn{TCPConn: connection.(*net.TCPConn)}, nil
}

// source is the next connection's; nil where the kernel chooses.
func (d *Dialer) source(address string) net.IP {
	turn := func(count int) int { return int((d.dialled.Add(1) - 1) % uint64(count)) }
	switch local := isLoopback(address); {
	case local && d.sources > 1:
		return net.IPv4(127, 0, 0, byte(1+turn(d.sources)))
	case !local && len(d.addresses) > 0:
		return d.addresses[turn(len(d.addresses))]
	}
	return nil
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.To4() != nil && ip.IsLoopback()
}

// choosePortAtConnect lets bind fix the address alone. Else it would take the port too, for itself, and the ports would be
// shared between all servers instead of being there for each of them.
func choosePortAtConnect(_, _ string, raw syscall.RawConn) error {
	var failed error
	if err := raw.Control(func(descriptor uintptr) {
		failed = unix.SetsockoptInt(int(descriptor), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	}); err != nil {
		return err
	}
	return failed
}

// Conn is a TCP connection that knows when bytes last came in.
type Conn struct {
	*net.TCPConn
	lastRead atomic.Int64
}

func (c *Conn) Read(into []byte) (int, error) {
	n, err := c.TCPConn.Read(into)
	if n > 0 {
		c.lastRead.Store(clock.Now())
	}
	return n, err
}

// LastRead implements transport.Arrival. It is 0 before the first read.
func (c *Conn) LastRead() int64 { return c.lastRead.Load() }
