package derived

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/study/ksqldb"
)

// streams are a stream of rows, one that is derived from it where a standing query has been asked for, and their topics.
type streams struct {
	server                 *ksqldb.Client
	source, sink           string // names
	sourceTopic, sinkTopic string
}

// newStreams gives names that no other run has.
func newStreams(server *ksqldb.Client) *streams {
	var random [4]byte
	rand.Read(random[:]) // never fails: it ends the program where the kernel has no randomness
	run := hex.EncodeToString(random[:])
	stream := "FLEET_" + strings.ToUpper(run)
	return &streams{server, stream, stream + "_DERIVED", "fleet-" + run, "fleet-" + run + "-derived"}
}

const (
	format     = "KEY_FORMAT = 'KAFKA', VALUE_FORMAT = 'JSON'"
	partitions = 4 // as many as the threads that ksqlDB gives to a query unless it is told otherwise
	tidyWithin = 5 * time.Minute
)

// earliest has a query begin with what is there, so that no row is before its time.
var earliest = map[string]string{"ksql.streams.auto.offset.reset": "earliest"}

// makeSource makes the stream of rows and its topic.
func (s *streams) makeSource(ctx context.Context) error {
	return s.make(ctx, s.source, fmt.Sprintf("CREATE STREAM %s (id VARCHAR KEY, %s) WITH (KAFKA_TOPIC = '%s', %s, PARTITIONS = %d);",
		s.source, message.RowColumns, s.sourceTopic, format, partitions), nil)
}

// makeSink makes the derived stream, its topic, and the query that writes it.
func (s *streams) makeSink(ctx context.Context) error {
	return s.make(ctx, s.sink, fmt.Sprintf("CREATE STREAM %s WITH (KAFKA_TOPIC = '%s') AS %s;", s.sink, s.sinkTopic, s.query()), earliest)
}

// make runs a statement. What has been asked for is waited for even when ctx ends meanwhile, or leave could come before it was made.
func (s *streams) make(ctx context.Context, stream, statement string, settings map[string]string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.server.Execute(context.WithoutCancel(ctx), statement, settings); err != nil {
		return during("making stream "+stream, err)
	}
	return nil
}

// follow asks for the rows as they come.
func (s *streams) follow(ctx context.Context) (*ksqldb.Rows, error) {
	rows, err := s.server.Follow(ctx, s.query()+";", earliest)
	if err != nil {
		return nil, during("asking for the rows of stream "+s.source, err)
	}
	return rows, nil
}

// query takes all rows, on a condition that looks into each.
func (s *streams) query() string {
	return fmt.Sprintf("SELECT * FROM %s WHERE generator >= 0 EMIT CHANGES", s.source)
}

// ours are the queries that write the sink, whatever the server has called them.
func (s *streams) ours(ctx context.Context) ([]ksqldb.Query, error) {
	all, err := s.server.Queries(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the queries that stand: %w", err)
	}
	return slices.DeleteFunc(all, func(other ksqldb.Query) bool { return !slices.Contains(other.Sinks, s.sink) }), nil
}

// state is what the server says of the query, for an error.
func (s *streams) state(ctx context.Context) string {
	found, err := s.ours(ctx)
	if err != nil {
		return err.Error()
	}
	if len(found) == 0 {
		return "the server knows of no standing query that does"
	}
	return fmt.Sprintf("the server says that %s is %s", found[0].ID, found[0].State)
}

// end removes query, streams and topics, whichever of them are there; it tries all of them.
func (s *streams) end(ctx context.Context) error {
	queries, failed := s.ours(ctx)
	for _, query := range queries {
		if err := s.server.Execute(ctx, "TERMINATE "+query.ID+";", nil); err != nil {
			failed = errors.Join(failed, fmt.Errorf("ending query %s: %w", query.ID, err))
		}
	}
	for _, stream := range []string{s.sink, s.source} {
		if err := s.server.Execute(ctx, "DROP STREAM IF EXISTS "+stream+" DELETE TOPIC;", nil); err != nil {
			failed = errors.Join(failed, fmt.Errorf("dropping stream %s: %w", stream, err))
		}
	}
	return failed
}

// leave ends what stands, also when ctx has ended, and adds what could not be removed to how the run ended.
func (s *streams) leave(ctx context.Context, ended error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	failed := s.end(ctx)
	if failed == nil {
		return ended
	}
	text := fmt.Sprintf("left behind in ksqlDB, to be dropped with DELETE TOPIC: streams %s and %s (%v)", s.sink, s.source, failed)
	if ended != nil {
		text = fmt.Sprintf("%v; and %s", ended, text)
	}
	return &result.Failure{Cause: result.LeftBehind, Message: text}
}
