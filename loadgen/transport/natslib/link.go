package natslib

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/absence"
	"lifeline/loadgen/transport/dial"
)

const (
	// handshakeTimeout applies where the caller's context has no earlier end.
	handshakeTimeout = 30 * time.Second
	// reconnectWait is shorter than the library's 2 s: an outage in a report must be the broker's, not the client's reconnect delay.
	reconnectWait = 250 * time.Millisecond
	// subscriberWait is a subscription's, which should be back before the publishers.
	subscriberWait = 10 * time.Millisecond
)

// link is a nats.Conn, the socket below it and what the server refused.
type link struct {
	*nats.Conn
	absent  *absence.Log // nil for a publisher, and where a stream keeps what comes meanwhile
	dialer  *dialer
	refused atomic.Pointer[error]
}

// connect opens a connection, with the record of a subscription that may be absent, or nil.
func (t *Transport) connect(ctx context.Context, node int, absent *absence.Log) (*link, error) {
	address := t.settings.Servers[node]
	first := &firstDial{ctx: ctx}
	l := &link{absent: absent, dialer: &dialer{inner: t.settings.Dialer, absent: absent}}
	l.dialer.first.Store(first)
	options := nats.GetDefaultOptions()
	// Given all of them, nats.go would quietly take another one, and the topology would not be what the scenario says.
	servers := t.urlsFrom(node)
	options.Servers = servers[:1]
	options.SkipHostLookup = true          // the fleet's dialer does that
	options.IgnoreDiscoveredServers = true // all are known; a list of them in every connection costs memory
	options.Name = "fleet-" + t.settings.Run
	options.CustomDialer = l.dialer
	options.Timeout = handshakeTimeout
	options.MaxReconnect = -1
	options.ReconnectWait = reconnectWait
	switch {
	case absent != nil:
		options.CustomReconnectDelayCB = func(int) time.Duration { return subscriberWait }
		options.ReconnectedCB = l.returned
	case !t.options.JetStream:
		options.ReconnectWait, options.ReconnectJitter = absence.PublishersWait, absence.PublishersWait
		l.dialer.waits = len(t.settings.Servers) > 1 // before it tries the only one again, nats.go waits by itself
	}
	if !t.options.JetStream {
		// Without a connection a publish fails, as with the minimal client: what nats.go keeps for later would count as sent, and
		// a broker that stays away as one that loses messages. A stream's publisher knows from its answers.
		options.ReconnectBufSize = -1
	}
	options.Secure, options.TLSConfig = t.settings.TLS != nil, t.settings.TLS
	options.AsyncErrorCB = l.note
	if deadline, set := ctx.Deadline(); set {
		options.Timeout = max(min(options.Timeout, time.Until(deadline)), time.Millisecond)
	}
	logIn, err := t.settings.Login.NATS()
	if err == nil {
		err = logIn(&options)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	connection, err := options.Connect()
	l.dialer.first.Store(nil)
	first.end()
	switch {
	case err != nil && first.failed != nil:
		return nil, first.failed // nats.go would say that no servers are available
	case err != nil:
		return nil, classify(address, err)
	}
	if err := connection.SetServerPool(servers); err != nil {
		connection.Close()
		return nil, classify(address, err)
	}
	l.Conn = connection
	return l, nil
}

// urlsFrom lists the servers as nats.go tries them: the given node, then, after a disconnection, those that follow.
func (t *Transport) urlsFrom(node int) []string {
	scheme := "nats://"
	switch {
	case t.options.WebSocket && t.settings.TLS != nil:
		scheme = "wss://"
	case t.options.WebSocket:
		scheme = "ws://"
	}
	urls := make([]string, len(t.settings.Servers))
	for i := range urls {
		urls[i] = scheme + t.settings.Servers[(node+i)%len(urls)]
	}
	return urls
}

// classify maps nats.go's errors to causes.
func classify(address string, err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired), errors.Is(err, nats.ErrMaxConnectionsExceeded),
		errors.Is(err, nats.ErrMaxAccountConnectionsExceeded):
		return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("connect to %s: %v", address, err)}
	}
	return dial.Classify(address, err)
}

// note keeps the error that makes publishing impossible. Others (a slow consumer, a lost route) show as lost messages.
func (l *link) note(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		l.refused.Store(&err)
	}
}

// returned ends a subscription's absence once the server has confirmed that it is in force. nats.go has repeated it.
func (l *link) returned(connection *nats.Conn) {
	for generation := l.absent.Generation(); connection.IsConnected(); {
		if connection.FlushTimeout(handshakeTimeout) == nil {
			l.absent.End(generation)
			return
		}
	}
}

// usable returns why the server does not want what is published here.
func (l *link) usable() error {
	if refused := l.refused.Load(); refused != nil {
		return *refused
	}
	return nil
}

// dialer is what nats.go dials with: it hands on to the fleet's dialer, and knows the socket in use.
type dialer struct {
	inner   transport.Dialer
	first   atomic.Pointer[firstDial] // nil once the connection is established
	arrival atomic.Pointer[transport.Arrival]

	absent *absence.Log // as link's
	waits  bool         // until PublishersWait is over, with reconnecting
	broken time.Time    // when it began to wait; zero while there is a connection
}

// firstDial is the way to the connection that a caller waits for. It ends with the caller's context.
type firstDial struct {
	ctx    context.Context
	failed error // of dialling
	undo   func() bool
}

func (f *firstDial) end() {
	if f.undo != nil {
		f.undo()
	}
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	first := d.first.Load()
	if first == nil {
		return d.redial(network, address)
	}
	connection, err := d.dial(first.ctx, network, address)
	if err != nil {
		first.failed = err
		return nil, err
	}
	first.undo = context.AfterFunc(first.ctx, func() { connection.Close() })
	return connection, nil
}

// redial is called with nats.go's lock, which publishing needs too: where a publisher has to wait, it fails, and nats.go waits.
func (d *dialer) redial(network, address string) (net.Conn, error) {
	d.absent.Begin(d.lastRead())
	if d.waits {
		if d.broken.IsZero() {
			d.broken = time.Now()
		}
		if time.Since(d.broken) < absence.PublishersWait {
			return nil, errSubscribersFirst
		}
	}
	connection, err := d.dial(context.Background(), network, address)
	if err == nil {
		d.broken = time.Time{}
	}
	return connection, err
}

var errSubscribersFirst = errors.New("subscribers reconnect first")

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := d.inner.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if arrival, stamps := connection.(transport.Arrival); stamps {
		d.arrival.Store(&arrival)
	}
	return connection, nil
}

// lastRead is when bytes last came in over the socket in use.
func (d *dialer) lastRead() int64 {
	if arrival := d.arrival.Load(); arrival != nil {
		return (*arrival).LastRead()
	}
	return 0
}
