package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

// publishTimeout is as long as a fleet's histograms reach.
const publishTimeout = 120 * time.Second

var errClosed = errors.New("postgres: the connection is closed")

// Connect returns when the first message needs no more than one question to the server.
func (t *Transport) Connect(ctx context.Context, _ int) (transport.Connection, error) {
	p := &publisher{transport: t, turn: make(chan struct{}, 1)}
	p.context, p.cancel = context.WithCancel(context.Background())
	if err := p.connect(ctx); err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// publisher is a session that inserts, and a new one where that is lost.
type publisher struct {
	transport *Transport
	context   context.Context // ends what waits for the server
	cancel    context.CancelFunc
	turn      chan struct{} // holds an entry while somebody uses what follows
	session   *session
	closed    bool
}

func (p *publisher) connect(ctx context.Context) (err error) {
	if p.session, err = p.transport.connect(ctx); err != nil {
		return err
	}
	insert := "INSERT INTO " + p.transport.table() + " (channel, message) VALUES ($1, $2)"
	if p.transport.settings.Poll == 0 {
		insert = "WITH stored AS (" + insert + ") SELECT pg_notify($3 || $1, '')"
	}
	if _, err = p.session.Prepare(ctx, "publish", insert); err != nil {
		p.session.Conn.Close(ctx)
		return fmt.Errorf("preparing to publish: %w", err)
	}
	return nil
}

// Publish returns when the row is committed.
func (p *publisher) Publish(channel string, message []byte, acknowledged transport.Acknowledged) error {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if p.closed {
		return errClosed
	}
	ctx, cancel := context.WithTimeout(p.context, publishTimeout)
	defer cancel()
	if p.session == nil || p.session.IsClosed() {
		if err := p.connect(ctx); err != nil {
			return err
		}
	}
	values := []any{channel, message}
	if p.transport.settings.Poll == 0 {
		values = append(values, p.transport.listening(""))
	}
	_, err := p.session.Exec(ctx, "publish", values...)
	if err != nil && pgconn.SafeToRetry(err) { // nothing has been sent
		return err
	}
	acknowledged(clock.Now(), err)
	return nil
}

// Close waits for the server's answer.
func (p *publisher) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.cancel)
	defer stop()
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	defer p.cancel()
	if p.closed = true; p.session == nil {
		return nil
	}
	return errors.Join(ctx.Err(), p.session.Conn.Close(ctx))
}
