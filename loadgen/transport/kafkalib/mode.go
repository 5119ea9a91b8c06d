package kafkalib

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lifeline/loadgen/transport/kind"
)

// Kafka warms up by default: a JVM that was just started is a hundred times slower than later.
var Kafka = kind.Kind{Name: "kafka", Title: "Kafka", Broker: kind.Kafka, Nodes: []int{1, 3},
	Schemes:          []kind.Scheme{{Name: "kafka", Port: "9092", Asks: true}},
	Acknowledgements: []string{"all", "none", "leader", "idempotent", "transaction"}, Minimal: []string{"all", "none", "leader"},
	WarmUp: 30 * time.Second, Stores: true, SASL: true}

// mode is what a scenario's acknowledgement means to a producer.
type mode struct {
	acks         kgo.Acks
	producerID   bool // the broker detects repeated batches
	transactions bool // one around every message
	options      []kgo.Opt
}

func modeOf(acknowledgement string) (mode, error) {
	switch acknowledgement {
	case "none":
		return plainMode(kgo.NoAck()), nil
	case "leader":
		return plainMode(kgo.LeaderAck()), nil
	case "all":
		return plainMode(kgo.AllISRAcks()), nil
	case "idempotent":
		return mode{acks: kgo.AllISRAcks(), producerID: true}, nil
	case "transaction":
		return mode{acks: kgo.AllISRAcks(), producerID: true, transactions: true}, nil
	}
	return mode{}, fmt.Errorf("Kafka knows no acknowledgement %q: none, leader, all, idempotent or transaction", acknowledgement)
}

// plainMode keeps messages in order over a retry, because one request at a time is under way; a retry may repeat one.
func plainMode(acks kgo.Acks) mode {
	return mode{acks: acks, options: []kgo.Opt{
		kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1)}}
}

// ProcessName is short and differs between the processes of a run.
func ProcessName() string {
	var random [4]byte
	rand.Read(random[:]) // never fails: it ends the program where the kernel has no randomness
	return hex.EncodeToString(random[:])
}
