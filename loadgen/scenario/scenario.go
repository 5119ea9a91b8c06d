// Package scenario is the description of one fleet: what a YAML file holds, its defaults and its rules.
package scenario

import "time"

// Scenario is one run of a fleet. Load reads one from a file; one made in Go starts from Default and ends with Complete.
type Scenario struct {
	Name         string          `yaml:"name" json:"name"`
	Seed         uint64          `yaml:"seed" json:"seed"`                   // of sleeps and payloads
	Generators   int             `yaml:"generators" json:"generators"`       // each with a connection, unless pooled
	Interval     Duration        `yaml:"interval" json:"interval"`           // between two messages of one generator
	Ramp         Duration        `yaml:"ramp" json:"ramp"`                   // between two new generators; 0: as fast as accepted
	InitialSleep Range           `yaml:"initial_sleep" json:"initial_sleep"` // of each generator, drawn evenly
	WarmUp       Duration        `yaml:"warm_up" json:"warm_up"`             // comes before Duration: the times of its messages are kept apart
	Duration     Duration        `yaml:"duration" json:"duration"`           // of the measurement, once all are connected and have slept
	Drain        Duration        `yaml:"drain" json:"drain"`                 // longest wait for what is under way at the end
	Message      Message         `yaml:"message" json:"message"`
	Transport    string          `yaml:"transport" json:"transport"`             // of package transports
	Client       string          `yaml:"client" json:"client"`                   // library (the ordinary client), or minimal
	Ack          Acknowledgement `yaml:"acknowledgement" json:"acknowledgement"` // what the transport offers
	Connections  Connections     `yaml:"connections" json:"connections"`         // dedicated, or pooled:M
	Broker       Broker          `yaml:"broker" json:"broker"`
	Subscribers  Subscribers     `yaml:"subscribers" json:"subscribers"`
	Workers      int             `yaml:"workers" json:"workers"`                   // processes; 0: as many as the connections need
	Sources      int             `yaml:"source_addresses" json:"source_addresses"` // 127.0.0.1 ... 127.0.0.N; 0: as many as the ports need
	Objectives   []Objective     `yaml:"objectives,omitempty" json:"objectives,omitempty"`
	Faults       []Fault         `yaml:"faults,omitempty" json:"faults,omitempty"`
}

// Duration is a time.Duration that YAML and JSON write as "1m30s".
type Duration struct{ time.Duration }

// Range is drawn from evenly; YAML writes it [10s, 20s].
type Range struct{ From, To Duration }

// Message is what a generator publishes.
type Message struct {
	Kind     string `yaml:"kind" json:"kind"`         // raw: the study's payload; batch: Lifeline batches
	Multiple int    `yaml:"multiple" json:"multiple"` // raw: so many times the study's fields
	Events   int    `yaml:"events" json:"events"`     // batch: events in each
}

// Acknowledgement is one of none (NATS, qos0, acks=0), qos1, stream (JetStream), leader (acks=1), all, idempotent, transaction.
type Acknowledgement string

// Connections is the policy: dedicated when Pool is 0, else generators share Pool connections.
type Connections struct{ Pool int }

// Broker is embedded when URL is empty.
type Broker struct {
	URL             string `yaml:"url,omitempty" json:"url,omitempty"`                           // several hosts by comma
	User            string `yaml:"user,omitempty" json:"user,omitempty"`                         //
	PasswordFile    string `yaml:"password_file,omitempty" json:"password_file,omitempty"`       // never the password itself; without a user a NATS token
	SASL            string `yaml:"sasl,omitempty" json:"sasl,omitempty"`                         // Kafka: plain, scram-sha-256 or scram-sha-512
	CredentialsFile string `yaml:"credentials_file,omitempty" json:"credentials_file,omitempty"` // NATS: .creds, or the seed of an nkey
	CAFile          string `yaml:"ca_file,omitempty" json:"ca_file,omitempty"`
	CertificateFile string `yaml:"certificate_file,omitempty" json:"certificate_file,omitempty"` // the fleet's own, for a broker that wants one
	KeyFile         string `yaml:"key_file,omitempty" json:"key_file,omitempty"`                 // of that certificate
	Nodes           int    `yaml:"nodes" json:"nodes"`                                           // embedded: NATS 1 to 6, Kafka 1 or 3
	Replicas        int    `yaml:"replicas" json:"replicas"`                                     // of stream or topic: 1 or 3
	KafkaJars       string `yaml:"kafka_jars,omitempty" json:"kafka_jars,omitempty"`             // folder of Kafka's jars; default: where `scripts/broker install kafka` puts them
}

// Subscribers receive all that is published, each its own copy.
type Subscribers struct {
	Count       int      `yaml:"count" json:"count"`
	Node        string   `yaml:"node" json:"node"`                                   // same: on the generator's node; other: on another one; apart: all on the last one, which has no generators
	Start       string   `yaml:"start,omitempty" json:"start,omitempty"`             // empty: before the generators, which wait until subscriptions are in force; together: at once with them
	Poll        Duration `yaml:"poll" json:"poll"`                                   // 0: pushed; else the subscriber asks so often, as the study's R-GMA consumer
	Acknowledge string   `yaml:"acknowledge,omitempty" json:"acknowledge,omitempty"` // each: the subscriber acknowledges each message, as with JMS's CLIENT_ACKNOWLEDGE
	Selector    string   `yaml:"selector,omitempty" json:"selector,omitempty"`       // such as "id < 10000"; evaluated by the subscriber
}

// Objective: the share of messages whose round trip takes at most Within; messages that were lost, or could not be published,
// count as missed.
type Objective struct {
	Within  Duration `yaml:"within,omitempty" json:"within,omitzero"`
	Share   float64  `yaml:"share,omitempty" json:"share,omitzero"`        // 0.995
	MaxLost *uint64  `yaml:"max_lost,omitempty" json:"max_lost,omitempty"` // apart from the two others; nil: not asked
}

// Fault happens to a node of an embedded broker, at a time counted from the begin of the measured span, which is after the
// initial sleeps and the warm-up.
type Fault struct {
	At     Duration `yaml:"at" json:"at"`
	Node   int      `yaml:"node" json:"node"`
	Action string   `yaml:"action" json:"action"` // kill (SIGKILL), stop (SIGSTOP, SIGCONT after For), restart (SIGKILL, started again after For)
	For    Duration `yaml:"for,omitempty" json:"for,omitzero"`
}
