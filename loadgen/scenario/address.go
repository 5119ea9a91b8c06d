package scenario

import (
	"net"
	"regexp"
	"strings"

	"lifeline/loadgen/transport/kind"
)

// Address is a broker's URL, taken apart.
type Address struct {
	Scheme string
	Hosts  []string // host:port
	Path   string   // without its slash, such as the name of a database; mostly empty
	TLS    bool
}

// Address of an external broker; the zero Address of an embedded one. The URL has been checked by Load.
func (b Broker) Address() Address {
	scheme, rest, ok := strings.Cut(b.URL, "://")
	if !ok {
		return Address{}
	}
	rest, query, _ := strings.Cut(rest, "?")
	hosts, path, _ := strings.Cut(rest, "/")
	_, known, _ := kind.ByScheme(scheme)
	a := Address{Scheme: scheme, Hosts: strings.Split(hosts, ","), Path: path, TLS: known.TLS || query == "tls=true"}
	for i, host := range a.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			a.Hosts[i] = net.JoinHostPort(strings.Trim(host, "[]"), known.Port)
		}
	}
	return a
}

// ExposesPassword reports whether the password may cross a network in clear text: to another machine by a URL without TLS. (A NATS
// server that insists on TLS gets it all the same.) SCRAM proves that one knows a password, and sends none.
func (b Broker) ExposesPassword() bool {
	at := b.Address()
	if b.PasswordFile == "" || at.TLS || strings.HasPrefix(b.SASL, "scram-") {
		return false
	}
	for _, host := range at.Hosts {
		if !IsThisMachine(host) {
			return true
		}
	}
	return false
}

// IsThisMachine reports whether the name of a host, or host:port, denotes this machine.
func IsThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// transport is what the URL's scheme means where the scenario does not say.
func (b Broker) transport() string {
	if k, _, known := kind.ByScheme(b.Address().Scheme); known {
		return k.Name
	}
	return kind.All()[0].Name
}

var userPart = regexp.MustCompile(`://.*@`)

// withoutPassword removes the password from a text that may hold a URL: a user who writes a password into a URL learns that it does not
// belong there, without finding it in a log.
func withoutPassword(text string) string { return userPart.ReplaceAllString(text, "://...@") }
