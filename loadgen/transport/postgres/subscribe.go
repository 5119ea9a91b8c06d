package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"lifeline/loadgen/transport"
)

const (
	// A reader that is notified of commits polls at this interval too: the last of several transactions may not be the fleet's own.
	unnotified = 50 * time.Millisecond
	// askAgain is the pause before a lost session is replaced.
	askAgain = 250 * time.Millisecond
	// silence is the longest that the server may take for an answer.
	silence = 10 * time.Second
	// page is the most rows that one question brings.
	page = 1000
)

// position is behind the last row that was read.
type position struct {
	transaction uint64
	id          int64
}

// subscription is the goroutine that reads.
type subscription struct {
	transport *Transport
	channel   string
	deliver   transport.Deliver
	session   *session
	position  position
	cancel    context.CancelFunc
	stopped   chan struct{}
}

// Subscribe delivers what is inserted from now on.
func (t *Transport) Subscribe(ctx context.Context, _ int, channel string, deliver transport.Deliver) (transport.Subscription, error) {
	s := &subscription{transport: t, channel: channel, deliver: deliver, stopped: make(chan struct{})}
	err := s.open(ctx)
	if err == nil {
		err = s.session.QueryRow(ctx, "SELECT pg_snapshot_xmin(pg_current_snapshot())").Scan(&s.position.transaction)
	}
	if err != nil {
		s.shut()
		return nil, fmt.Errorf("subscribe to %s: %w", channel, err)
	}
	running, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.run(running)
	return s, nil
}

// listening is the name of the notifications of commits to a channel.
func (t *Transport) listening(channel string) string {
	return "fleet-" + t.settings.Run + "-" + channel
}

// open begins a session. No row below the oldest running transaction can appear any more, which no order of ids could promise:
// a smaller one may be committed later.
func (s *subscription) open(ctx context.Context) (err error) {
	if s.session, err = s.transport.connect(ctx); err != nil {
		return err
	}
	if s.transport.settings.Poll == 0 {
		name := pgx.Identifier{s.transport.listening(s.channel)}.Sanitize()
		if _, err := s.session.Exec(ctx, "LISTEN "+name); err != nil {
			return err
		}
	}
	_, err = s.session.Prepare(ctx, "read", "SELECT transaction, id, message FROM "+s.transport.table()+`
		WHERE channel = $1 AND (transaction, id) > ($2, $3) AND transaction < pg_snapshot_xmin(pg_current_snapshot())
		ORDER BY transaction, id LIMIT $4`)
	return err
}

// shut ends the session, if there is one.
func (s *subscription) shut() {
	if s.session != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.session.Conn.Close(ctx)
		s.session = nil
	}
}

// run reads until ctx ends. Over a lost session it keeps its position.
func (s *subscription) run(ctx context.Context) {
	defer close(s.stopped)
	defer s.shut()
	for ctx.Err() == nil {
		if s.session == nil {
			if s.open(ctx) != nil {
				s.shut()
				pause(ctx, askAgain)
				continue
			}
		}
		asked := time.Now()
		if s.session.notified = false; s.read(ctx) != nil {
			s.shut()
			continue
		}
		if poll := s.transport.settings.Poll; poll > 0 {
			pause(ctx, poll-time.Since(asked))
		} else if !s.session.notified {
			waiting, cancel := context.WithTimeout(ctx, unnotified)
			_ = s.session.PgConn().WaitForNotification(waiting) // a lost session is noticed by the next question
			cancel()
		}
	}
}

// read delivers all rows that are there.
func (s *subscription) read(ctx context.Context) error {
	for {
		rows, err := s.page(ctx)
		if err != nil || rows < page {
			return err
		}
	}
}

func (s *subscription) page(ctx context.Context) (count int, err error) {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	rows, err := s.session.Query(ctx, "read", s.channel, s.position.transaction, s.position.id, page)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var next position
		var message pgtype.DriverBytes // valid until the next row
		if err := rows.Scan(&next.transaction, &next.id, &message); err != nil {
			return count, err
		}
		s.deliver(message, s.session.lastRead())
		s.position = next
		count++
	}
	return count, rows.Err()
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// Close returns when nothing is delivered any more.
func (s *subscription) Close(ctx context.Context) error {
	s.cancel()
	select {
	case <-s.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
