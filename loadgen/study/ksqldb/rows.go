package ksqldb

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"lifeline/loadgen/result"
)

// Rows are the answers to a query that goes on, ksqlDB's push query. One goroutine at a time takes them; Close may come from
// another.
type Rows struct {
	client *Client
	id     string
	lines  *bufio.Reader
	body   io.Closer
	stop   context.CancelFunc
}

// Follow asks a query that goes on, over a connection of its own, and returns when the server has begun to answer it.
func (c *Client) Follow(ctx context.Context, query string, properties map[string]string) (*Rows, error) {
	ctx, stop := context.WithCancel(ctx)
	late := time.AfterFunc(answerTimeout, stop)
	response, err := c.send(ctx, http.MethodPost, "/query-stream", rowsType, struct {
		Query      string            `json:"sql"`
		Properties map[string]string `json:"properties"`
	}{query, properties})
	if err != nil {
		stop()
		return nil, c.unless(!late.Stop(), err)
	}
	r := &Rows{client: c, lines: bufio.NewReaderSize(response.Body, mostRow), body: response.Body, stop: stop}
	line, err := r.lines.ReadSlice('\n')
	if err != nil {
		r.abandon()
		return nil, c.unless(!late.Stop(), fmt.Errorf("reading the head of ksqlDB's answer: %w", err))
	}
	var head struct {
		ID      string   `json:"queryId"`
		Columns []string `json:"columnNames"`
	}
	if !late.Stop() || json.Unmarshal(line, &head) != nil || head.ID == "" || len(head.Columns) == 0 {
		r.abandon()
		return nil, c.stranger("POST /query-stream is not answered by rows")
	}
	r.id = head.ID
	return r, nil
}

// unless replaces an error where the real one is that the server has been silent for too long.
func (c *Client) unless(silent bool, err error) error {
	if !silent {
		return err
	}
	return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("ksqlDB at %s has not begun to answer a query within %s", c.url, answerTimeout)}
}

// mostRow is the longest line that is read, in bytes.
const mostRow = 1 << 20

// Next waits for a row, an array in JSON with a cell for each column, which is valid until the next call. The error is io.EOF where
// the server ended the query.
func (r *Rows) Next() ([]byte, error) {
	for {
		line, err := r.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, r.client.stranger(fmt.Sprintf("a row is longer than %d bytes", mostRow))
		}
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("[")):
			return line, nil
		case err != nil:
			return nil, err
		}
		var said struct {
			Code    int    `json:"error_code"`
			Message string `json:"message"`
		}
		if json.Unmarshal(line, &said) == nil && said.Code != 0 { // other objects are tokens for clients that come again
			return nil, &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("ksqlDB at %s ended a query: %s (%d)", r.client.url, said.Message, said.Code)}
		}
	}
}

// Close ends the query at the server.
func (r *Rows) Close(ctx context.Context) error {
	defer r.abandon()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	response, err := r.client.send(ctx, http.MethodPost, "/close-query", mediaType, map[string]string{"queryId": r.id})
	if err != nil {
		return fmt.Errorf("ending query %s: %w", r.id, err)
	}
	return response.Body.Close()
}

// abandon gives up the connection.
func (r *Rows) abandon() {
	r.stop()
	_ = r.body.Close()
}
