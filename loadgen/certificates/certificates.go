// Package certificates makes short-lived X.509 certificates for those who have no PKI: of embedded brokers, and of a fleet's
// machines.
package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// life is longer than any run; the hour before now is for clocks that are behind.
const life = 30 * 24 * time.Hour

// Authority is a CA that exists only in this process: once it is gone, nobody can sign with its key.
type Authority struct {
	PEM         []byte // its certificate
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate with its private key, both PEM.
type Pair struct{ Certificate, Key []byte }

// NewAuthority makes a CA that is valid for 30 days.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a CA: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("making a CA: %w", err)
	}
	return &Authority{PEM: encode("CERTIFICATE", der), certificate: template, key: key}, nil
}

// Server makes the pair of a server that has these names or IP addresses.
func (a *Authority) Server(hosts ...string) (Pair, error) {
	return a.sign(hosts[0], hosts, x509.ExtKeyUsageServerAuth)
}

// Client makes the pair of a client. It is refused as a server's.
func (a *Authority) Client(name string) (Pair, error) {
	return a.sign(name, nil, x509.ExtKeyUsageClientAuth)
}

func (a *Authority) sign(name string, hosts []string, usage x509.ExtKeyUsage) (Pair, error) {
	failed := func(err error) (Pair, error) { return Pair{}, fmt.Errorf("making a certificate for %s: %w", name, err) }
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return failed(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return failed(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return failed(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return failed(err)
	}
	return Pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER)}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
