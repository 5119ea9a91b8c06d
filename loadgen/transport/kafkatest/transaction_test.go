package kafkatest

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
)

// liar makes connections over which the answer to one EndTxn comes back as an error of which nobody knows what it means, although
// the broker has committed.
type liar struct {
	transport.Dialer
	lie atomic.Bool
}

func (l *liar) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	socket, err := l.Dialer.DialContext(ctx, network, address)
	return &lying{Conn: socket, liar: l}, err
}

type lying struct {
	net.Conn
	liar *liar
	next atomic.Bool // the next answer is that to EndTxn
}

func (c *lying) Write(request []byte) (int, error) {
	const endTxn = 26
	if len(request) > 6 && binary.BigEndian.Uint16(request[4:]) == endTxn && c.liar.lie.CompareAndSwap(true, false) {
		c.next.Store(true)
	}
	return c.Conn.Write(request)
}

// Read sees an answer as short as this one whole.
func (c *lying) Read(into []byte) (int, error) {
	read, err := c.Conn.Read(into)
	const code = 4 + 4 + 1 + 4 // behind length, correlation id, tags and throttle time
	if read > code+2 && c.next.CompareAndSwap(true, false) {
		binary.BigEndian.PutUint16(into[code:], 0xffff) // UNKNOWN_SERVER_ERROR
	}
	return read, err
}

func TestACommitOfWhichNobodyKnowsHowItWentDoesNotEndTheConnection(t *testing.T) {
	systemtest.Mark(t)
	settings := settingsOf(t, three, "transaction")
	between := &liar{Dialer: settings.Dialer}
	settings.Dialer = between
	made, _, channel := prepared(t, library, settings)
	box := subscribe(t, made, channel)
	connection := connect(t, made)
	between.lie.Store(true)
	if kept := publish(t, connection, channel, []string{"uncertain"}); kept.acknowledged != 1 || len(kept.errors) != 1 {
		t.Errorf("%d acknowledgements, errors %v", kept.acknowledged, kept.errors)
	}
	if kept := publish(t, connection, channel, []string{"certain"}); kept.acknowledged != 1 || len(kept.errors) != 0 {
		t.Errorf("then %d acknowledgements, errors %v", kept.acknowledged, kept.errors)
	}
	if received := box.wait(t, 2); !slices.Equal(received, []string{"uncertain", "certain"}) {
		t.Errorf("received %q", received)
	}
	if err := connection.Close(within(t, testTimeout)); err != nil {
		t.Error(err)
	}
}

// deaf makes connections over which from a moment on no request goes: to its clients that is a broker that has stopped.
type deaf struct {
	transport.Dialer
	now      atomic.Bool
	requests atomic.Int64 // that did not go
}

func (d *deaf) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	socket, err := d.Dialer.DialContext(ctx, network, address)
	return &unheard{Conn: socket, deaf: d}, err
}

type unheard struct {
	net.Conn
	deaf *deaf
}

func (c *unheard) Write(request []byte) (int, error) {
	if c.deaf.now.Load() {
		c.deaf.requests.Add(1)
		return len(request), nil
	}
	return c.Conn.Write(request)
}

func TestClosingWaitsForATransactionAsLongAsItMayAndNoLonger(t *testing.T) {
	systemtest.Mark(t)
	settings := settingsOf(t, three, "transaction")
	between := &deaf{Dialer: settings.Dialer}
	settings.Dialer = between
	made, _, channel := prepared(t, library, settings)
	connection := connect(t, made)
	defer between.now.Store(false) // what the test made has to be removed
	between.now.Store(true)

	told := make(chan error, 1)
	published := make(chan error, 1)
	go func() {
		published <- connection.Publish(channel, []byte("unheard"), func(_ int64, err error) { told <- err })
	}()
	limit := within(t, testTimeout)
	for between.requests.Load() == 0 && limit.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := connection.Close(within(t, 100*time.Millisecond)); err == nil {
		t.Error("a transaction that never ended is no error")
	}
	select {
	case err := <-published:
		if err == nil {
			err = <-told
		}
		if err == nil {
			t.Error("what no broker has heard is acknowledged")
		}
	case <-limit.Done():
		t.Error("the message is still under way")
	}
}
