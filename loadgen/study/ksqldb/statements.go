package ksqldb

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lifeline/loadgen/result"
)

// Info is who a server is.
type Info struct {
	Version string
	Kafka   string // id of the cluster that it reads
}

// Info asks a server who it is.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var answer struct {
		Server *struct {
			Version string `json:"version"`
			Kafka   string `json:"kafkaClusterId"`
		} `json:"KsqlServerInfo"`
	}
	if err := c.call(ctx, http.MethodGet, "/info", nil, &answer); err != nil {
		return Info{}, err
	}
	if answer.Server == nil || answer.Server.Version == "" {
		return Info{}, c.stranger("GET /info tells no version")
	}
	return Info{Version: answer.Server.Version, Kafka: answer.Server.Kafka}, nil
}

// question is what the server takes as one: statements, and the settings that they are run with.
type question struct {
	Statements string            `json:"ksql"`
	Properties map[string]string `json:"streamsProperties"`
}

type status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

const (
	askAgain = 200 * time.Millisecond // between two questions for how far a statement has got
	// A query that has just begun is ended only when Kafka has given up on its consumers, which takes 45 s.
	doneWithin = 3 * time.Minute
)

// Execute runs a statement and returns when the server has carried it out: a server writes it down first, and may answer
// before it has done it.
func (c *Client) Execute(ctx context.Context, statement string, properties map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, doneWithin)
	defer cancel()
	var answers []struct {
		Command string `json:"commandId"`
		Status  status `json:"commandStatus"`
	}
	if properties == nil {
		properties = map[string]string{}
	}
	if err := c.call(ctx, http.MethodPost, "/ksql", question{statement, properties}, &answers); err != nil {
		return err
	}
	for _, answer := range answers {
		if err := c.await(ctx, answer.Command, answer.Status); err != nil {
			return err
		}
	}
	return nil
}

// await asks for a command until it is done.
func (c *Client) await(ctx context.Context, command string, now status) error {
	for {
		switch now.Status {
		case "SUCCESS", "TERMINATED":
			return nil
		case "ERROR":
			return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("ksqlDB at %s answers: %s", c.url, now.Message)}
		}
		select {
		case <-ctx.Done():
			return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("ksqlDB at %s has not carried out a statement within %s: it is %s",
				c.url, doneWithin, now.Status)}
		case <-time.After(askAgain):
		}
		parts := strings.Split(command, "/") // TYPE/NAME/ACTION, where a name may be in quotes
		for i, part := range parts {
			parts[i] = url.PathEscape(part)
		}
		if err := c.call(ctx, http.MethodGet, "/status/"+strings.Join(parts, "/"), nil, &now); err != nil {
			return err
		}
	}
}

// Query is one that stands at the server.
type Query struct {
	ID    string   `json:"id"`
	State string   `json:"state"` // RUNNING, ERROR, UNRESPONSIVE
	Sinks []string `json:"sinks"` // streams and tables that it writes
}

// Queries lists the queries that stand at the server.
func (c *Client) Queries(ctx context.Context) ([]Query, error) {
	var answers []struct {
		Queries []Query `json:"queries"`
	}
	if err := c.call(ctx, http.MethodPost, "/ksql", question{"SHOW QUERIES;", map[string]string{}}, &answers); err != nil {
		return nil, err
	}
	var all []Query
	for _, answer := range answers {
		all = append(all, answer.Queries...)
	}
	return all, nil
}
