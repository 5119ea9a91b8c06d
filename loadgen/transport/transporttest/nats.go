package transporttest

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"lifeline/loadgen/broker/ports"
)

// StartNATS runs one nats-server per node, as a cluster when there are several, and returns them when each knows all others.
// adjust may change what node i is started with; its listeners should be on server.RANDOM_PORT.
func StartNATS(t testing.TB, nodes int, adjust func(node int, options *server.Options)) []*server.Server {
	t.Helper()
	routePorts := reserve(t, nodes)
	routes := make([]*url.URL, nodes)
	for i, port := range routePorts {
		routes[i] = &url.URL{Scheme: "nats", Host: ports.Address(port)}
	}
	servers := make([]*server.Server, nodes)
	for i := range servers {
		options := &server.Options{
			ServerName: fmt.Sprintf("node-%d", i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			NoLog: true, NoSigs: true, StoreDir: t.TempDir(), MaxPayload: 1 << 20,
		}
		if nodes > 1 {
			options.Cluster = server.ClusterOpts{Name: "fleet", Host: ports.Host, Port: routePorts[i]}
			options.Routes = routes
		}
		if adjust != nil {
			adjust(i, options)
		}
		s, err := server.NewServer(options)
		if err != nil {
			t.Fatalf("nats-server: %v", err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		servers[i] = s
	}
	for end := time.Now().Add(time.Minute); !ready(servers); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the nats-servers did not find each other")
		}
	}
	return servers
}

func ready(servers []*server.Server) bool {
	stream := false
	led := 0
	for _, s := range servers {
		if !s.ReadyForConnections(5*time.Second) || len(servers) > 1 && s.NumRoutes() < len(servers)-1 {
			return false
		}
		stream = stream || s.JetStreamEnabled()
		if s.JetStreamIsLeader() {
			led++
		}
	}
	return !stream || len(servers) == 1 || led == 1
}

// Addresses are host:port of the servers' client listeners.
func Addresses(servers []*server.Server) []string {
	addresses := make([]string, len(servers))
	for i, s := range servers {
		addresses[i] = s.Addr().String()
	}
	return addresses
}

// DeadAddress is one that refuses connections until the test ends.
func DeadAddress(t testing.TB) string {
	t.Helper()
	return ports.Address(reserve(t, 1)[0])
}

func reserve(t testing.TB, count int) []int {
	t.Helper()
	reserved, err := ports.Reserve(count)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reserved.Close)
	return reserved.Ports
}
