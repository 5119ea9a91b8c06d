package ports

import (
	"errors"
	"net"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAReservedPortIsForItsServerAloneAndRefusesConnectionsUntilThen(t *testing.T) {
	reserved, err := Reserve(2)
	if err != nil {
		t.Fatal(err)
	}
	defer reserved.Close()
	address := Address(reserved.Ports[0])
	if _, err := net.Dial("tcp4", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("before the server listens: %v", err)
	}
	for range 2 { // the second time as a node that was down
		if socket, err := reserve(reserved.Ports[0]); !errors.Is(err, unix.EADDRINUSE) {
			t.Errorf("reserved twice: socket %d, %v", socket, err)
		}
		server, err := net.Listen("tcp4", address)
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp4", address)
		if err != nil {
			t.Fatal(err)
		}
		client.Close()
		server.Close()
	}
	if slices.Sort(reserved.Ports); len(slices.Compact(reserved.Ports)) != 2 {
		t.Errorf("ports %v", reserved.Ports)
	}
}

func TestServersListenWhereNoOutgoingConnectionDoesOrElseAnywhere(t *testing.T) {
	for _, c := range []struct{ first, last, from, to int }{
		{32768, 60999, 10000, 32767}, // the kernel's default
		{10000, 60999, 61000, 65535},
		{1024, 60000, 60001, 65535},
		{1024, 65535, 10000, 65535},
		{10500, 65500, 10000, 65535}, // too few on either side
	} {
		if from, to := serverPorts(c.first, c.last); from != c.from || to != c.to {
			t.Errorf("outgoing connections have %d to %d, and servers %d to %d, not %d to %d", c.first, c.last, from, to, c.from, c.to)
		}
	}
}
