package broker

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

	"lifeline/loadgen/broker/ports"
)

// certificates are a CA for one run and a server certificate that it signed. The CA's key is discarded at once.
type certificates struct {
	ca, server, key []byte // PEM
}

// certificateLife is longer than any run; the hour before now is for clocks that are set back meanwhile.
const certificateLife = 30 * 24 * time.Hour

func makeCertificates() (certificates, error) {
	failed := func(err error) (certificates, error) {
		return certificates{}, fmt.Errorf("making certificates: %w", err)
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return failed(err)
	}
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return failed(err)
	}
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: ports.Host},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.ParseIP(ports.Host)}, DNSNames: []string{"localhost"},
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return failed(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, &serverKey.PublicKey, authorityKey)
	if err != nil {
		return failed(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		return failed(err)
	}
	encode := func(kind string, der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	return certificates{
		ca:     encode("CERTIFICATE", authorityDER),
		server: encode("CERTIFICATE", leafDER),
		key:    encode("PRIVATE KEY", keyDER),
	}, nil
}
