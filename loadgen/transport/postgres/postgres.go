// Package postgres publishes by INSERT into a table of PostgreSQL, and subscribes by SELECT: the way of the study's R-GMA, which
// kept its measurements in relational databases. It speaks through pgx, the client that Go programs use.
//
// Subscribers poll, or, where they are pushed to, LISTEN for commits. They read in the order of transactions, up to
// the oldest that still runs anywhere on the server: one that writes for long delays them, and none makes them miss a row.
package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/kind"
)

// PostgreSQL acknowledges a commit. Its subscribers ask as often as the study's did.
var PostgreSQL = kind.Kind{Name: "postgres", Title: "PostgreSQL", Broker: kind.PostgreSQL, Nodes: []int{1},
	Schemes:          []kind.Scheme{{Name: "postgres", Port: "5432", Asks: true, Path: true}},
	Acknowledgements: []string{"commit"}, Poll: 100 * time.Millisecond, Stores: true}

// handshakeTimeout applies where the caller's context has no earlier end.
const handshakeTimeout = 30 * time.Second

// Transport implements transport.Transport. Every connection and every subscription is a session of the server.
type Transport struct {
	settings transport.Settings
	created  bool // the table, by Prepare
}

// New connects to nothing yet.
func New(settings transport.Settings) (*Transport, error) {
	if len(settings.Servers) != 1 {
		return nil, fmt.Errorf("postgres: there is one server, not %d", len(settings.Servers))
	}
	return &Transport{settings: settings}, nil
}

// Traits of this client. The server has a process for each session.
func (t *Transport) Traits() transport.Traits {
	return transport.Traits{Client: "pgx " + transport.Version("github.com/jackc/pgx/v5"), Acknowledges: true, Blocks: true,
		Durable: true, Descriptors: 1, ClientBytes: 64 << 10, BrokerBytes: 3 << 20}
}

// table is quoted, for SQL.
func (t *Transport) table() string { return pgx.Identifier{"fleet-" + t.settings.Run}.Sanitize() }

// Prepare makes the run's table. Its key is the order in which subscribers read: a transaction's number is given at its first
// write, so that one connection's messages keep their order.
func (t *Transport) Prepare(ctx context.Context, _ []string) error {
	t.created = true // also where the answer is lost
	return t.do(ctx, "CREATE TABLE "+t.table()+` (channel text NOT NULL, transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
		id bigint GENERATED ALWAYS AS IDENTITY, message bytea NOT NULL, PRIMARY KEY (channel, transaction, id))`)
}

// Remove drops the run's table.
func (t *Transport) Remove(ctx context.Context) error {
	if !t.created {
		return nil
	}
	return t.do(ctx, "DROP TABLE IF EXISTS "+t.table())
}

func (t *Transport) do(ctx context.Context, statement string) error {
	s, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	if _, err := s.Exec(ctx, statement); err != nil {
		return fmt.Errorf("table %s: %w", t.table(), err)
	}
	return nil
}

// session is a connection of pgx. One goroutine at a time may use it.
type session struct {
	*pgx.Conn
	arrival  transport.Arrival
	notified bool // of a commit, since it was last set to false
}

// connect returns when the server has let the fleet in. Its errors are those of dial.Classify.
func (t *Transport) connect(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	server, s := t.settings.Servers[0], &session{}
	config, err := Config(server, t.settings.Path, t.settings.Login, t.settings.TLS)
	if err != nil {
		return nil, err
	}
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { s.notified = true }
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil } // the dialer does it
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		socket, err := t.settings.Dialer.DialContext(ctx, network, address)
		s.arrival, _ = socket.(transport.Arrival)
		return socket, err
	}
	if s.Conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			return nil, &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("connect to %s: %v", server, err)}
		}
		return nil, dial.Classify(server, err)
	}
	return s, nil
}

// Config is pgx's for the server's address, where user and database are fleet by default. The environment, which pgx's own
// parser reads, has no say in what is given here.
func Config(server, database string, who login.Login, secure *tls.Config) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig("postgres://" + server + "/?sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("the address of PostgreSQL: %w", err)
	}
	config.User, config.Password, config.Database = cmp.Or(who.User, "fleet"), who.Password, cmp.Or(database, "fleet")
	config.RuntimeParams["application_name"] = "fleet"
	if secure != nil {
		config.TLSConfig = secure.Clone()
		config.TLSConfig.ServerName = cmp.Or(config.TLSConfig.ServerName, config.Host)
	}
	return config, nil
}

// lastRead is when bytes last came in.
func (s *session) lastRead() int64 {
	if s.arrival == nil {
		return 0
	}
	return s.arrival.LastRead()
}
