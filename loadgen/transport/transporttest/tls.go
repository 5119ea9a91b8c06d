package transporttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Certificates are both sides of a TLS connection to 127.0.0.1, and the server's certificate and key as files in PEM form.
type Certificates struct {
	Server, Client   *tls.Config
	Certificate, Key string
}

// NewCertificates makes one certificate that signs itself, for the life of a test.
func NewCertificates(t testing.TB) Certificates {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(parsed)
	return Certificates{
		Server:      &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		Client:      &tls.Config{RootCAs: trusted},
		Certificate: write(t, "certificate.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		Key:         write(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
	}
}

// WebSocketAddresses are host:port of the servers' WebSocket listeners.
func WebSocketAddresses(t testing.TB, servers []*server.Server) []string {
	t.Helper()
	addresses := make([]string, len(servers))
	for i, s := range servers {
		listener, err := url.Parse(s.WebsocketURL())
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = listener.Host
	}
	return addresses
}
