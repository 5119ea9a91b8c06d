package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	host           = "127.0.0.1"
	brokerStart    = time.Minute
	mostBytesStore = 64 << 30 // a limit of streams, not a reservation on disk
)

// broker is the embedded NATS server.
type broker struct {
	server *server.Server
	log    *serverLog
}

// startBroker returns when the server accepts connections. Port 0 is a free one.
func startBroker(store string, port int) (*broker, error) {
	if port == 0 {
		port = server.RANDOM_PORT
	} else if err := isFree(net.JoinHostPort(host, strconv.Itoa(port)), "--port"); err != nil {
		return nil, err
	}
	nats, err := server.NewServer(&server.Options{
		ServerName:             "lifeline-dev",
		Host:                   host,
		Port:                   port,
		JetStream:              true,
		StoreDir:               store,
		JetStreamMaxStore:      mostBytesStore,
		DisableJetStreamBanner: true,
		NoSigs:                 true,
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the embedded NATS: %w", err)
	}
	b := &broker{nats, &serverLog{fatal: make(chan string, 1)}}
	nats.SetLoggerV2(b.log, false, false, false)
	nats.Start()
	if nats.ReadyForConnections(brokerStart) {
		return b, nil
	}
	b.stop()
	select {
	case reason := <-b.log.fatal:
		return nil, fmt.Errorf("the embedded NATS did not start: %s", reason)
	default:
		return nil, fmt.Errorf("the embedded NATS did not accept connections within %v", brokerStart)
	}
}

func (b *broker) url() string { return "nats://" + b.server.Addr().String() }

func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

// isFree names the option that gave an address which another process has taken.
func isFree(address, option string) error {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %s is taken by another process: choose another port, or leave %s out for a free one", option, address, option)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	return listener.Close()
}

// serverLog relays what the server warns of. It must not end the process, as the server's own log does on a fatal error.
type serverLog struct{ fatal chan string }

func (l *serverLog) Noticef(string, ...any) {}
func (l *serverLog) Debugf(string, ...any)  {}
func (l *serverLog) Tracef(string, ...any)  {}

func (l *serverLog) Warnf(format string, values ...any) {
	relayed("nats", fmt.Sprintf(format, values...))
}
func (l *serverLog) Errorf(format string, values ...any) {
	relayed("nats", fmt.Sprintf(format, values...))
}

func (l *serverLog) Fatalf(format string, values ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, values...):
	default: // the first one is the cause
	}
}
