// Package login holds the credentials for an external broker, in the form that each client library needs.
package login

import (
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"lifeline/loadgen/scenario"
)

// Login is data, so that it can travel to worker processes. The zero Login is nobody.
type Login struct {
	User            string
	Password        string // without a user: the token of a NATS server
	CredentialsFile string // NATS: a .creds file, or an nkey's seed
	Mechanism       string // Kafka's SASL: plain (also when empty), scram-sha-256 or scram-sha-512
}

// Of is the login that a scenario names; it reads the password.
func Of(b scenario.Broker) (Login, error) {
	l := Login{User: b.User, CredentialsFile: b.CredentialsFile, Mechanism: b.SASL}
	if b.PasswordFile != "" {
		content, err := os.ReadFile(b.PasswordFile)
		if err != nil {
			return l, fmt.Errorf("reading the password (broker.password_file): %w", err)
		}
		if l.Password = strings.TrimRight(string(content), "\r\n"); l.Password == "" {
			return l, fmt.Errorf("the password's file %s (broker.password_file) is empty", b.PasswordFile)
		}
	}
	return l, nil
}

// SASL is for Kafka; nil where there is no user.
func (l Login) SASL() sasl.Mechanism {
	switch {
	case l.User == "":
		return nil
	case l.Mechanism == "scram-sha-256":
		return scram.Auth{User: l.User, Pass: l.Password}.AsSha256Mechanism()
	case l.Mechanism == "scram-sha-512":
		return scram.Auth{User: l.User, Pass: l.Password}.AsSha512Mechanism()
	}
	return plain.Auth{User: l.User, Pass: l.Password}.AsMechanism()
}

// Token is the token for a NATS server that requires one.
func (l Login) Token() string {
	if l.User == "" {
		return l.Password
	}
	return ""
}

// NATS is for nats.go. Files are read again for each new connection: a long run may outlive what is in them.
func (l Login) NATS() (nats.Option, error) {
	switch {
	case l.CredentialsFile != "":
		credentials, err := l.credentials()
		if err != nil {
			return nil, err
		}
		credentials.pair.Wipe()
		if credentials.jwt == "" {
			return nats.Nkey(credentials.nkey, l.sign), nil
		}
		return nats.UserJWT(l.userJWT, l.sign), nil
	case l.User != "":
		return nats.UserInfo(l.User, l.Password), nil
	case l.Token() != "":
		return nats.Token(l.Token()), nil
	}
	return func(*nats.Options) error { return nil }, nil
}

// Proof authenticates the user of a credentials file: identity and signed nonce. JWT or NKey is empty.
type Proof struct {
	JWT, NKey string
	Signature []byte
}

// Prove answers a NATS server's nonce; the zero Proof where there is no credentials file.
func (l Login) Prove(nonce string) (Proof, error) {
	if l.CredentialsFile == "" {
		return Proof{}, nil
	}
	credentials, err := l.credentials()
	if err != nil {
		return Proof{}, err
	}
	defer credentials.pair.Wipe()
	signature, err := credentials.pair.Sign([]byte(nonce))
	if err != nil {
		return Proof{}, fmt.Errorf("signing the server's nonce: %w", err)
	}
	return Proof{JWT: credentials.jwt, NKey: credentials.nkey, Signature: signature}, nil
}

func (l Login) userJWT() (string, error) {
	proof, err := l.Prove("")
	return proof.JWT, err
}

func (l Login) sign(nonce []byte) ([]byte, error) {
	proof, err := l.Prove(string(nonce))
	return proof.Signature, err
}

// credentials are what a file holds: a key, and the JWT that an account has given its user or, where there is none, the public
// half of the key. The caller wipes the pair.
type credentials struct {
	jwt, nkey string
	pair      nkeys.KeyPair
}

func (l Login) credentials() (credentials, error) {
	failed := func(err error) (credentials, error) {
		return credentials{}, fmt.Errorf("reading the credentials %s: %w", l.CredentialsFile, err)
	}
	content, err := os.ReadFile(l.CredentialsFile)
	if err != nil {
		return failed(err)
	}
	defer clear(content)
	pair, err := nkeys.ParseDecoratedUserNKey(content)
	if err != nil {
		return failed(err)
	}
	jwt, err := nkeys.ParseDecoratedJWT(content)
	if err != nil {
		return failed(err)
	}
	if strings.Count(jwt, ".") == 2 {
		return credentials{jwt: jwt, pair: pair}, nil
	}
	// A file with a key alone: the library has returned the secret key, which must not go to the server as a JWT.
	public, err := pair.PublicKey()
	if err != nil {
		return failed(err)
	}
	return credentials{nkey: public, pair: pair}, nil
}
