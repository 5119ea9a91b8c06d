package dial_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/broker/ports"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func causeOf(t *testing.T, err error) result.Cause {
	t.Helper()
	var failure *result.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("%v is no failure with a cause", err)
	}
	return failure.Cause
}

func TestSourceAddressesTakeTurns(t *testing.T) {
	listener := listen(t)
	dialer := dial.New(3, time.Second)
	seen := map[string]int{}
	for range 6 {
		connection, err := dialer.DialContext(context.Background(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		seen[connection.LocalAddr().(*net.TCPAddr).IP.String()]++
	}
	for _, source := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		if seen[source] != 2 {
			t.Errorf("%s was used %d times, not twice", source, seen[source])
		}
	}
}

func TestAddressesForBrokersElsewhereAreNotForTheLoopback(t *testing.T) {
	dialer, err := dial.From([]string{"203.0.113.1"}, 1, time.Second) // which no machine has
	if err != nil {
		t.Fatal(err)
	}
	connection, err := dialer.DialContext(context.Background(), "tcp", listen(t).Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	connection.Close()
	if _, err := dialer.DialContext(context.Background(), "tcp", "203.0.113.9:4222"); err == nil {
		t.Error("a connection from an address that this machine does not have")
	}
	if _, err := dial.From([]string{"host.example"}, 1, time.Second); err == nil {
		t.Error("a name is taken for an address")
	}
}

func TestLastReadIsStampedWhenTheReadReturns(t *testing.T) {
	listener := listen(t)
	connection, err := dial.New(1, time.Second).DialContext(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	before := clock.Now()
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(connection, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if at := connection.(transport.Arrival).LastRead(); at < before || at > clock.Now() {
		t.Errorf("stamped at %d, outside of the read", at)
	}
}

func TestAServerThatAcceptsNothingIsAnAcceptTimeout(t *testing.T) {
	full, address := fullBacklog(t)
	defer full()
	_, err := dial.New(1, 50*time.Millisecond).DialContext(context.Background(), "tcp", address)
	if cause := causeOf(t, err); cause != result.AcceptTimeout {
		t.Errorf("the cause is %s", cause)
	}
}

func TestAMachineWithoutDescriptorsOrPortsIsNamedSo(t *testing.T) {
	for number, expected := range map[syscall.Errno]result.Cause{
		syscall.EMFILE: result.Descriptors, syscall.ENFILE: result.Descriptors, syscall.EADDRNOTAVAIL: result.Ports,
	} {
		err := dial.Classify("127.0.0.1:1", &net.OpError{Op: "dial", Err: number})
		if cause := causeOf(t, err); cause != expected {
			t.Errorf("%v is %s, not %s", number, cause, expected)
		}
	}
}

func TestAClosedPortIsReportedWithItsAddress(t *testing.T) {
	reserved, err := ports.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	defer reserved.Close()
	_, err = dial.New(1, time.Second).DialContext(context.Background(), "tcp", ports.Address(reserved.Ports[0]))
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v does not say that the connection was refused", err)
	}
}

// fullBacklog returns the address of a listener whose queue has no room.
func fullBacklog(t *testing.T) (closeAll func(), address string) {
	t.Helper()
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(descriptor, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(descriptor, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(descriptor)
	if err != nil {
		t.Fatal(err)
	}
	address = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*unix.SockaddrInet4).Port}).String()
	filler, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return func() { filler.Close(); unix.Close(descriptor) }, address
}
