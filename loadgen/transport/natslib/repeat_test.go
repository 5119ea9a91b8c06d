package natslib_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport/natslib"
	"lifeline/loadgen/transport/transporttest"
)

func TestWhatAStreamHasTakenWithoutSayingSoIsPublishedAgainAndKeptOnce(t *testing.T) {
	systemtest.Mark(t)
	direct := transporttest.StartNATS(t, 1, withJetStream)[0].Addr().String()
	between := newRelay(t, direct)
	s := transporttest.Settings([]string{between.address(), direct})
	b := transporttest.NewBed(t, open(t, s, natslib.Options{JetStream: true}), "a")
	b.Subscribe(1, "a")
	connection := b.Connect(0)
	b.Publish(connection, "a", "answered")
	b.Await(1)
	between.mute()
	b.Publish(connection, "a", "unanswered")
	b.AwaitMessage("unanswered")
	between.hangUp()
	b.AwaitExactly(2, connection, "a")
}

// relay stands between clients and a server.
type relay struct {
	listener net.Listener
	muted    atomic.Bool

	mutex sync.Mutex
	sides []net.Conn
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener}
	t.Cleanup(r.hangUp)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			broker, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			r.mutex.Lock()
			r.sides = append(r.sides, client, broker)
			r.mutex.Unlock()
			go func() { _, _ = io.Copy(broker, client) }()
			go func() { _, _ = io.Copy(unlessMuted{r, client}, broker) }()
		}
	}()
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

// mute keeps back what servers say from now on.
func (r *relay) mute() { r.muted.Store(true) }

// hangUp ends all connections, and lets no more in.
func (r *relay) hangUp() {
	r.listener.Close()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, side := range r.sides {
		side.Close()
	}
}

type unlessMuted struct {
	relay *relay
	to    io.Writer
}

func (w unlessMuted) Write(said []byte) (int, error) {
	if w.relay.muted.Load() {
		return len(said), nil
	}
	return w.to.Write(said)
}
