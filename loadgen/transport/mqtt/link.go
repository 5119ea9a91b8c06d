package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
	"github.com/nats-io/nuid"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/absence"
	"lifeline/loadgen/transport/dial"
)

const (
	// handshakeTimeout applies where the caller's context has no earlier end.
	handshakeTimeout = 30 * time.Second
	// reconnectInterval is the longest pause before a lost connection is tried again.
	reconnectInterval = time.Second
	// protocol is MQTT 3.1.1; set, so that Paho does not fall back to 3.1 and hide why a server refused.
	protocol = 4
	// quiesce is how long Paho may take to write its DISCONNECT, in milliseconds.
	quiesce = 1000
)

// link is a Paho client and the socket below it.
type link struct {
	paho.Client
	transport *Transport
	absent    *absence.Log // of a subscription; nil for a publisher
	arrival   atomic.Pointer[transport.Arrival]

	first  atomic.Pointer[context.Context] // of the caller that waits for the first connection; then nil
	failed atomic.Pointer[error]           // of dialling for it
}

// connect opens a client on the node. connected, unless it is nil, is called after each time that it is connected anew.
func (t *Transport) connect(ctx context.Context, node int, absent *absence.Log, connected func(*link)) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	address := t.settings.Servers[node]
	l := &link{transport: t, absent: absent}
	l.first.Store(&ctx)
	options := paho.NewClientOptions().
		SetClientID("fleet-" + nuid.Next()).
		SetProtocolVersion(protocol).
		SetUsername(t.settings.Login.User).
		SetPassword(t.settings.Login.Password).
		SetCleanSession(true).
		SetConnectTimeout(handshakeTimeout).
		SetMaxReconnectInterval(reconnectInterval).
		SetCustomOpenConnectionFn(l.open).
		SetConnectionLostHandler(func(paho.Client, error) {}).
		// The first connection leads to one server only, as the fleet's topology says; later ones may lead to any.
		AddBroker("tcp://" + address).
		SetReconnectingHandler(func(_ paho.Client, options *paho.ClientOptions) {
			options.Servers = options.Servers[:0:0]
			for i := range t.settings.Servers {
				options.AddBroker("tcp://" + t.settings.Servers[(node+i)%len(t.settings.Servers)])
			}
		})
	if connected != nil {
		// Paho calls it in a goroutine, for the first connection perhaps when that has long been in use.
		var before atomic.Bool
		options.SetOnConnectHandler(func(paho.Client) {
			if before.Swap(true) {
				connected(l)
			}
		})
	}
	l.Client = paho.NewClient(options)
	if err := wait(ctx, l.Connect()); err != nil {
		l.Disconnect(0)
		if failed := l.failed.Load(); failed != nil {
			return nil, *failed // Paho would say that it was a network error
		}
		return nil, classify(address, err)
	}
	l.first.Store(nil)
	return l, nil
}

// open is what Paho dials with.
func (l *link) open(server *url.URL, _ paho.ClientOptions) (net.Conn, error) {
	ctx := context.Background()
	if first := l.first.Load(); first != nil {
		connection, err := l.dial(*first, server.Host)
		if err != nil {
			l.failed.Store(&err)
		}
		return connection, err
	}
	l.absent.Begin(l.lastRead())
	if l.absent == nil {
		time.Sleep(absence.PublishersWait)
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	return l.dial(ctx, server.Host)
}

func (l *link) dial(ctx context.Context, address string) (net.Conn, error) {
	connection, arrival, err := l.transport.settings.Dial(ctx, address)
	if arrival != nil {
		l.arrival.Store(&arrival)
	}
	return connection, err
}

// lastRead is when bytes last came in over the socket in use.
func (l *link) lastRead() int64 {
	if arrival := l.arrival.Load(); arrival != nil {
		return (*arrival).LastRead()
	}
	return 0
}

// wait returns how an operation of Paho's ended, or that ctx did.
func wait(ctx context.Context, token paho.Token) error {
	select {
	case <-token.Done():
		return token.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// classify maps CONNACK reason codes to causes.
func classify(address string, err error) error {
	for _, refusal := range []error{
		packets.ErrorRefusedNotAuthorised, packets.ErrorRefusedBadUsernameOrPassword, packets.ErrorRefusedIDRejected,
		packets.ErrorRefusedBadProtocolVersion,
	} {
		if errors.Is(err, refusal) {
			return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("connect to %s: %v", address, err)}
		}
	}
	return dial.Classify(address, err)
}
