// Package kind holds what scenarios, the preflight, brokers and reports have to know of each transport: data, for which no client
// library is needed. A transport's package declares its Kind; package transports registers all of them.
package kind

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is one transport: a protocol as a scenario names it.
type Kind struct {
	Name    string   // in scenarios, such as nats-tls
	Title   string   // in reports, such as core NATS over TLS
	Schemes []Scheme // of the URLs of external brokers
	Broker  *Broker  // that is started without a URL; nil: the transport needs a URL
	Nodes   []int    // sizes of such a cluster
	TLS     bool     // such a cluster demands TLS

	Acknowledgements []string      // that are offered, the default first
	Minimal          []string      // of these those that the minimal client offers; none: there is no minimal client
	WarmUp           time.Duration // the default
	Poll             time.Duration // the default; 0: subscribers are pushed to

	Confirms bool // subscribers can acknowledge each message
	Stores   bool // the broker keeps messages: they can be polled for, and their number is compared with the fleet's
	OneSided bool // the broker counts what it takes, and not what it gives

	Credentials bool // NATS's own logins: tokens and credentials files, besides user and password
	SASL        bool // broker.sasl chooses how a password is proved
}

// Scheme is a way to write a broker's address: NAME://HOST[:PORT],...
type Scheme struct {
	Name string
	Port string // where a host names none
	TLS  bool   // always; otherwise where the URL ends in ?tls=true, if it Asks
	Asks bool
	Path bool // a name may follow the hosts, such as a database's
}

// Broker is what one node of a broker that the fleet starts itself needs, besides what its connections do.
type Broker struct {
	Name        string
	Descriptors int // listeners, logs, other nodes
	Bytes       int64
	Faults      bool // a node can be killed, stopped and started again
}

// The brokers that package broker can start.
var (
	NATS       = &Broker{Name: "NATS", Descriptors: 150, Bytes: 64 << 20, Faults: true}
	Kafka      = &Broker{Name: "Kafka", Descriptors: 450, Bytes: 1 << 30, Faults: true}
	PostgreSQL = &Broker{Name: "PostgreSQL", Descriptors: 150, Bytes: 256 << 20}
)

var registered []Kind

// Register declares the transports in the order in which people see them; package transports calls it once, at its start.
func Register(kinds ...Kind) { registered = append(registered, kinds...) }

// All are the transports. A program or test that reads scenarios must import package transports.
func All() []Kind {
	if len(registered) == 0 {
		panic("kind: no transport is registered: import lifeline/loadgen/transports")
	}
	return registered
}

// Of is the transport of that name. An unknown one, such as of another release's results, has only its name.
func Of(name string) Kind {
	for _, k := range All() {
		if k.Name == name {
			return k
		}
	}
	return Kind{Name: name, Title: name}
}

// Names are those of the transports for which the condition holds; of all for nil.
func Names(holds func(Kind) bool) (names []string) {
	for _, k := range All() {
		if holds == nil || holds(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// ByScheme is the first transport that takes such URLs, with the scheme; false if there is none.
func ByScheme(name string) (Kind, Scheme, bool) {
	for _, k := range All() {
		for _, s := range k.Schemes {
			if s.Name == name {
				return k, s, true
			}
		}
	}
	return Kind{}, Scheme{}, false
}

// Schemes are all that there are, each once.
func Schemes() (all []Scheme) {
	for _, k := range All() {
		for _, s := range k.Schemes {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Takes reports whether URLs of that scheme lead to this transport.
func (k Kind) Takes(scheme string) bool {
	return slices.ContainsFunc(k.Schemes, func(s Scheme) bool { return s.Name == scheme })
}

// Either lists words for a sentence: a, b or c.
func Either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s or %s", strings.Join(words[:last], ", "), words[last])
}
