package broker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"lifeline/loadgen/scenario"
)

// TLS is the trust between a cluster and its clients. Worker processes get it, so it is data and no tls.Config.
type TLS struct {
	CA               []byte // PEM; empty: the system's CA certificates
	Certificate, Key []byte // PEM, client certificate; may be empty
}

// Config is what a client needs; nil for a nil TLS.
func (t *TLS) Config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(t.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("broker.ca_file contains no PEM certificate")
		}
	}
	if len(t.Certificate) > 0 {
		pair, err := tls.X509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the client's certificate (broker.certificate_file, broker.key_file): %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// tlsOf reads the files that a scenario names; nil without TLS.
func tlsOf(b scenario.Broker) (*TLS, error) {
	if !b.Address().TLS {
		return nil, nil
	}
	t := &TLS{}
	for _, file := range []struct {
		path, key string
		into      *[]byte
	}{
		{b.CAFile, "broker.ca_file", &t.CA}, {b.CertificateFile, "broker.certificate_file", &t.Certificate},
		{b.KeyFile, "broker.key_file", &t.Key},
	} {
		if file.path == "" {
			continue
		}
		content, err := os.ReadFile(file.path)
		if err != nil {
			return nil, fmt.Errorf("reading what TLS needs (%s): %w", file.key, err)
		}
		*file.into = content
	}
	return t, nil
}
