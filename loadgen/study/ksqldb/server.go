// Package ksqldb speaks to a ksqlDB server over its REST interface, as far as the study needs it: who the server is, statements
// and standing queries, and the rows of a query that goes on. Failures are of type *result.Failure where the server does not
// answer or refuses; no error holds a password.
package ksqldb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"lifeline/loadgen/scenario"
)

// Server says where a server is, and who asks it.
type Server struct {
	URL          string // http://HOST:PORT, or https://
	User         string
	PasswordFile string // never the password itself
	CAFile       string // PEM of whom to trust; empty: the system's authorities
}

// Client asks one server. Its methods may be called from any goroutine.
type Client struct {
	url      string // without a slash at its end
	user     string
	password string
	http     *http.Client
}

// New reads the server's files; it opens no connection.
func New(server Server) (*Client, error) {
	address, err := url.Parse(server.URL)
	switch {
	case err != nil: // which would repeat the URL, and what somebody may have written into it
		return nil, errors.New("ksqlDB's URL cannot be read; write http://HOST:8088, or https://")
	case address.User != nil:
		return nil, errors.New("ksqlDB's URL must not contain a password, which would appear in reports; set a user and a password file")
	case address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.RawQuery != "" || address.Fragment != "":
		return nil, fmt.Errorf("ksqlDB's URL is %s; write http://HOST:8088, or https://", server.URL)
	case (server.User == "") != (server.PasswordFile == ""):
		return nil, errors.New("ksqlDB's user and password file go together; give both or none")
	case server.CAFile != "" && address.Scheme != "https":
		return nil, errors.New("a CA file for ksqlDB needs TLS; write a URL with https://")
	}
	c := &Client{url: strings.TrimRight(server.URL, "/"), user: server.User}
	if server.PasswordFile != "" {
		content, err := os.ReadFile(server.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("reading ksqlDB's password: %w", err)
		}
		c.password = strings.TrimRight(string(content), "\r\n")
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if server.CAFile != "" {
		ca, err := os.ReadFile(server.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading ksqlDB's CA file: %w", err)
		}
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("ksqlDB's CA file contains no PEM certificate")
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = trust
	c.http = &http.Client{
		Transport: transport,
		// ksqlDB does not redirect; do not send the password to a server that does.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// ExposesPassword reports whether the password crosses a network in clear text: to another machine without TLS.
func (s Server) ExposesPassword() bool {
	address, err := url.Parse(s.URL)
	return err == nil && s.PasswordFile != "" && address.Scheme == "http" && !scenario.IsThisMachine(address.Host)
}

// Close gives up the connections that are open.
func (c *Client) Close() { c.http.CloseIdleConnections() }
