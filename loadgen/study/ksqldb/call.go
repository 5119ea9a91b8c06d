package ksqldb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"lifeline/loadgen/result"
)

const (
	answerTimeout = 30 * time.Second // for one answer
	mostAnswer    = 16 << 20         // bytes; a list of queries holds their whole text
	mediaType     = "application/vnd.ksql.v1+json"
	rowsType      = "application/vnd.ksqlapi.delimited.v1"
	contentType   = "Content-Type"
)

// call asks for one answer.
func (c *Client) call(ctx context.Context, method, path string, question, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	response, err := c.send(ctx, method, path, mediaType, question)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, mostAnswer)).Decode(answer); ctx.Err() != nil {
		return fmt.Errorf("reading ksqlDB's answer: %w", ctx.Err())
	} else if err != nil {
		return c.stranger(fmt.Sprintf("%s %s is answered by something that cannot be read (%v)", method, path, err))
	}
	return nil
}

// send asks and returns what the server consented to; the body is still to be read, and to be closed.
func (c *Client) send(ctx context.Context, method, path, accept string, question any) (*http.Response, error) {
	var body io.Reader
	if question != nil {
		text, err := json.Marshal(question)
		if err != nil {
			return nil, fmt.Errorf("asking ksqlDB: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return nil, fmt.Errorf("asking ksqlDB: %w", err)
	}
	request.Header.Set("Accept", accept)
	if question != nil {
		request.Header.Set(contentType, mediaType)
	}
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL, which is said anyway
		}
		if errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("asking ksqlDB: %w", err)
		}
		return nil, &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("no ksqlDB answers at %s: %v; is the URL right, and "+
			"is the server up?", c.url, err)}
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, c.refusal(response, method+" "+path)
	}
	return response, nil
}

// refusal is the failure of a request that the server rejects.
func (c *Client) refusal(response *http.Response, question string) error {
	var said struct {
		Code    int    `json:"error_code"`
		Message string `json:"message"`
	}
	known := json.NewDecoder(io.LimitReader(response.Body, mostAnswer)).Decode(&said) == nil && said.Code != 0
	var text string
	switch {
	case response.StatusCode == http.StatusUnauthorized && c.user == "":
		text = fmt.Sprintf("ksqlDB at %s requires authentication (HTTP 401): give a user and a password file", c.url)
	case response.StatusCode == http.StatusUnauthorized:
		text = fmt.Sprintf("ksqlDB at %s rejects user %s (HTTP 401): check user and password file", c.url, c.user)
	case known:
		text = fmt.Sprintf("ksqlDB at %s answers: %s (%d)", c.url, said.Message, said.Code)
	default:
		return c.stranger(fmt.Sprintf("%s is answered by HTTP %d", question, response.StatusCode))
	}
	return &result.Failure{Cause: result.Refused, Message: text}
}

// stranger is the failure of a reply that is not ksqlDB's.
func (c *Client) stranger(what string) error {
	return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("the server at %s is not ksqlDB: %s", c.url, what)}
}
