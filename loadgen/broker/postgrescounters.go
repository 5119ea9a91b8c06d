package broker

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport/postgres"
)

// postgresCounters counts the rows of a run's table.
type postgresCounters struct {
	way      way
	database string
}

func findPostgres(ctx context.Context, s scenario.Scenario, w way) (counterSource, error) {
	counters := &postgresCounters{w, s.Broker.Address().Path}
	if _, err := counters.Counters(ctx, ""); err != nil {
		return nil, &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("PostgreSQL does not take the fleet: %v; "+
			"look at the database and ?tls=true in broker.url, ca_file, user and password_file", err)}
	}
	return counters, nil
}

// Counters has the number of rows in Stored; PostgreSQL counts no messages.
func (p *postgresCounters) Counters(ctx context.Context, run string) (Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	sum, err := p.count(ctx, run)
	if err != nil {
		err = fmt.Errorf("counting the rows of PostgreSQL's table: %w", err)
	}
	return sum, err
}

func (p *postgresCounters) count(ctx context.Context, run string) (Counters, error) {
	sum := Counters{Connections: unknown, In: unknown, Out: unknown, Dropped: unknown, Routed: unknown}
	config, err := postgres.Config(p.way.servers[0], p.database, p.way.who, p.way.config)
	if err != nil {
		return sum, err
	}
	connection, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return sum, err
	}
	defer connection.Close(ctx)
	version, _, _ := strings.Cut(connection.PgConn().ParameterStatus("server_version"), " ")
	sum.Name = "PostgreSQL " + version
	table, there := pgx.Identifier{"fleet-" + run}.Sanitize(), false
	if err := connection.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", table).Scan(&there); err != nil || !there {
		return sum, err
	}
	err = connection.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&sum.Stored)
	return sum, err
}
