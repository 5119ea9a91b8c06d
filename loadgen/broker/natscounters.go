package broker

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/login"
)

// natsCounters reads the counters of external NATS servers: from their monitoring endpoints if reachable, else the
// account statistics that the fleet's own user may request.
type natsCounters struct {
	scheme  string
	servers []string
	login   login.Login
	tls     *tls.Config
	streams bool // the fleet's messages are stored

	// Statistics requests and their replies count as messages of the account.
	mutex           sync.Mutex
	asked, answered int64
}

// monitorPort is NATS's conventional monitoring port.
const monitorPort = "8222"

// Counters are unknown, without an error, if neither source is available.
func (b *natsCounters) Counters(ctx context.Context, run string) (Counters, error) {
	if counters, err := b.monitors(ctx, run); err == nil {
		return counters, nil
	}
	counters, err := b.account(ctx)
	if err != nil {
		counters = Counters{Name: "NATS", Connections: unknown, In: unknown, Out: unknown, Dropped: unknown, Routed: unknown}
	}
	if counters.Stored, err = b.stored(ctx, run); err != nil {
		counters.Stored = unknown
	}
	if ctx.Err() != nil {
		return Counters{}, fmt.Errorf("reading the counters of NATS: %w", context.Cause(ctx))
	}
	return counters, nil
}

// monitors queries each server's host, and checks the server's port in the reply: a host may run several servers.
func (b *natsCounters) monitors(ctx context.Context, run string) (Counters, error) {
	sum := Counters{Nodes: make([]Node, len(b.servers))}
	stored := map[string]int64{}
	for i, address := range b.servers {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return sum, fmt.Errorf("reading the address %s: %w", address, err)
		}
		monitor := "http://" + net.JoinHostPort(host, monitorPort)
		var at server.Varz
		if err := ask(ctx, monitor+"/varz", &at); err != nil {
			return sum, err
		}
		if !slices.Contains([]string{strconv.Itoa(at.Port), strconv.Itoa(at.Websocket.Port), strconv.Itoa(at.MQTT.Port)}, port) {
			return sum, fmt.Errorf("the monitor %s is of another server than %s", monitor, address)
		}
		version, err := add(ctx, monitor, run, &sum, &sum.Nodes[i], stored)
		if err != nil {
			return sum, err
		}
		sum.Name = "NATS " + version
	}
	sum.Stored = total(stored)
	return sum, nil
}

const (
	statisticsSubject = "$SYS.REQ.ACCOUNT.PING.STATZ" // every server of a cluster answers
	statisticsQuiet   = 300 * time.Millisecond        // quiet time that ends the replies
	statisticsWait    = 3 * time.Second               // for the first
	statisticsTries   = 8                             // limit
)

// statistics is one server's answer about one account.
type statistics struct {
	Server server.ServerInfo   `json:"server"`
	Data   server.AccountStatz `json:"data"`
}

// clients is what went to and from clients, of an account's messages of all kinds.
func clients(t server.DataStats) int64 {
	count := t.Msgs
	for _, others := range []*server.MsgBytes{t.Routes, t.Gateways, t.Leafs} {
		if others != nil {
			count -= others.Msgs
		}
	}
	return count
}

// account's counters exclude its own requests. Whether a reply already counts its request is a race within the server,
// so requests repeat until both cases have been seen. If all replies agree, the request was counted.
func (b *natsCounters) account(ctx context.Context) (Counters, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	connection, err := b.connect()
	if err != nil {
		return Counters{}, err
	}
	defer connection.Close()
	var first Counters
	// A server that does not know the reply subject yet drops its reply.
	for try := 0; try < statisticsTries && len(first.Nodes) < len(b.servers); try++ {
		if first, err = b.accountOnce(ctx, connection, 0); err != nil {
			return Counters{}, err
		}
	}
	for range statisticsTries - 1 {
		next, err := b.accountOnce(ctx, connection, len(first.Nodes))
		if err != nil {
			return Counters{}, err
		}
		if next.In != first.In {
			next.In = min(next.In, first.In)
			return next, nil
		}
	}
	first.In--
	return first, nil
}

// accountOnce sends one request after all earlier ones have been counted. servers is the expected number of replies; 0: unknown.
func (b *natsCounters) accountOnce(ctx context.Context, connection *nats.Conn, servers int) (Counters, error) {
	sum := Counters{Stored: unknown, Connections: -1, In: -b.asked, Out: -b.answered} // without this connection
	inbox := nats.NewInbox()
	answers, err := connection.SubscribeSync(inbox)
	if err != nil {
		return sum, fmt.Errorf("asking for the account's statistics: %w", err)
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := connection.FlushTimeout(statisticsWait); err != nil {
		return sum, fmt.Errorf("asking for the account's statistics: %w", err)
	}
	if err := connection.PublishRequest(statisticsSubject, inbox, nil); err != nil {
		return sum, fmt.Errorf("asking for the account's statistics: %w", err)
	}
	b.asked++
	for wait := statisticsWait; ; wait = statisticsQuiet {
		if servers > 0 && len(sum.Nodes) == servers {
			return sum, nil
		}
		answer, err := next(ctx, answers, wait)
		if errors.Is(err, context.DeadlineExceeded) && len(sum.Nodes) > 0 {
			return sum, nil
		}
		if err != nil {
			return sum, fmt.Errorf("waiting for the account's statistics: %w", err)
		}
		b.answered++
		var one statistics
		if err := json.Unmarshal(answer.Data, &one); err != nil {
			return sum, fmt.Errorf("reading the account's statistics: %w", err)
		}
		for _, account := range one.Data.Accounts {
			sum.Name = "NATS " + one.Server.Version
			node := Node{Name: one.Server.Name, Instance: one.Server.ID, In: clients(account.Received), Out: clients(account.Sent)}
			if account.Sent.Routes != nil {
				node.RoutedBytes = account.Sent.Routes.Bytes
			}
			sum.Nodes = append(sum.Nodes, node)
			sum.Connections += int64(account.Conns)
			sum.In += node.In
			sum.Out += node.Out
			sum.Routed += node.RoutedBytes
			sum.Dropped += account.SlowConsumers
		}
	}
}

// stored is the number of messages in the run's streams; read only if messages are stored, since requests count too.
func (b *natsCounters) stored(ctx context.Context, run string) (int64, error) {
	if !b.streams {
		return unknown, nil
	}
	connection, err := b.connect()
	if err != nil {
		return unknown, err
	}
	defer connection.Close()
	js, err := jetstream.New(connection)
	if err != nil {
		return unknown, fmt.Errorf("asking for streams: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, statisticsWait)
	defer cancel()
	all := int64(0)
	streams := js.ListStreams(ctx)
	for stream := range streams.Info() {
		if ofRun(stream.Config.Name, run) {
			all += int64(stream.State.Msgs)
		}
	}
	if err := streams.Err(); err != nil {
		return unknown, fmt.Errorf("asking for streams: %w", err)
	}
	return all, nil
}

func next(ctx context.Context, answers *nats.Subscription, wait time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return answers.NextMsgWithContext(ctx)
}

func (b *natsCounters) connect() (*nats.Conn, error) {
	if b.scheme == "mqtt" || b.scheme == "mqtts" {
		return nil, errors.New("the account's statistics are not available over MQTT")
	}
	logIn, err := b.login.NATS()
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.NoReconnect(), nats.Timeout(dialTimeout), logIn}
	if b.tls != nil {
		options = append(options, nats.Secure(b.tls))
	}
	connection, err := nats.Connect(b.scheme+"://"+b.servers[0], options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to ask for the account's statistics: %w", err)
	}
	return connection, nil
}
