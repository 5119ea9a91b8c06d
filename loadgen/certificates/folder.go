package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Names of the files in a folder of credentials: those of a Kubernetes Secret of type kubernetes.io/tls with its CA.
const (
	CAFile          = "ca.crt"
	CertificateFile = "tls.crt"
	KeyFile         = "tls.key"
)

// Coordinator is the folder of the client's credentials; the other folders are called as their hosts.
const Coordinator = "coordinator"

// Write makes a CA and, in folder, a folder of credentials for the coordinator and for each host, a name or an IP address; of a
// wildcard the folder lacks "*.". The CA's key is not kept. It returns the folders.
func Write(folder string, hosts ...string) ([]string, error) {
	authority, err := NewAuthority()
	if err != nil {
		return nil, err
	}
	client, err := authority.Client(Coordinator)
	if err != nil {
		return nil, err
	}
	pairs := map[string]Pair{Coordinator: client}
	names := []string{Coordinator}
	for _, host := range hosts {
		name := strings.TrimPrefix(host, "*.")
		if name == "" || name == "." || name == ".." || strings.ContainsRune(name, filepath.Separator) {
			return nil, fmt.Errorf("%q is neither a host's name nor an IP address", host)
		}
		if _, twice := pairs[name]; twice {
			return nil, fmt.Errorf("two folders would be called %q", name)
		}
		if pairs[name], err = authority.Server(host); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	folders := make([]string, len(names))
	for i, name := range names {
		folders[i] = filepath.Join(folder, name)
		if err := write(folders[i], authority.PEM, pairs[name]); err != nil {
			return nil, fmt.Errorf("writing certificates: %w", err)
		}
	}
	return folders, nil
}

// write refuses to replace a file: a fleet in use would lose its credentials.
func write(folder string, ca []byte, pair Pair) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{CAFile: ca, CertificateFile: pair.Certificate, KeyFile: pair.Key} {
		file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(content)
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Mutual reads a folder of credentials for TLS 1.3 between two ends that both show a certificate of the folder's CA. The same
// configuration serves either end.
func Mutual(folder string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, CertificateFile), filepath.Join(folder, KeyFile))
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(folder, CAFile))
	if err != nil {
		return nil, fmt.Errorf("reading the CA certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s contains no PEM certificate", filepath.Join(folder, CAFile))
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}
