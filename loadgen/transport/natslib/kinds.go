package natslib

import "lifeline/loadgen/transport/kind"

var (
	overTCP   = kind.Scheme{Name: "nats", Port: "4222"}
	overTLS   = kind.Scheme{Name: "tls", Port: "4222", TLS: true}
	unstored  = []string{"none"}
	upToSix   = []int{1, 2, 3, 4, 5, 6}
	majority  = []int{1, 3, 4, 5, 6} // of two nodes, neither is a majority when the other is gone
	webSocket = []kind.Scheme{{Name: "ws", Port: "80"}, {Name: "wss", Port: "443", TLS: true}}
)

// The transports that this package speaks.
var (
	NATS = kind.Kind{Name: "nats", Title: "core NATS", Schemes: []kind.Scheme{overTCP}, Broker: kind.NATS, Nodes: upToSix,
		Acknowledgements: unstored, Minimal: unstored, Credentials: true}
	NATSOverTLS = kind.Kind{Name: "nats-tls", Title: "core NATS over TLS", Schemes: []kind.Scheme{overTLS}, Broker: kind.NATS,
		Nodes: upToSix, TLS: true, Acknowledgements: unstored, Minimal: unstored, Credentials: true}
	NATSOverWebSocket = kind.Kind{Name: "nats-websocket", Title: "core NATS over WebSocket", Schemes: webSocket, Broker: kind.NATS,
		Nodes: upToSix, Acknowledgements: unstored, Credentials: true}
	JetStream = kind.Kind{Name: "jetstream", Title: "NATS JetStream", Schemes: []kind.Scheme{overTCP, overTLS}, Broker: kind.NATS,
		Nodes: majority, Acknowledgements: []string{"stream"}, Confirms: true, Stores: true, Credentials: true}
)
