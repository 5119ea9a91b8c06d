// Package natstest runs real nats-servers in the process of a test.
package natstest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Start runs one server per node, as a cluster when there are several, and returns them when each knows all others. adjust
// may change what node i is started with; listeners get free ports of 127.0.0.1.
func Start(t testing.TB, nodes int, adjust func(node int, options *server.Options)) []*server.Server {
	t.Helper()
	routes := make([]*url.URL, nodes)
	for i := range routes {
		routes[i] = &url.URL{Scheme: "nats", Host: "127.0.0.1:" + strconv.Itoa(FreePort(t))}
	}
	servers := make([]*server.Server, nodes)
	for i := range servers {
		options := &server.Options{
			ServerName: fmt.Sprintf("node-%d", i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			NoLog: true, NoSigs: true, StoreDir: t.TempDir(), MaxPayload: 1 << 20,
		}
		if nodes > 1 {
			port, _ := strconv.Atoi(routes[i].Port())
			options.Cluster = server.ClusterOpts{Name: "fleet", Host: "127.0.0.1", Port: port}
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

// Ports that were given away are not given again: their servers may listen some time later.
var given sync.Map

// FreePort is a port of 127.0.0.1 that nobody listens on. It lies below those that the kernel chooses from: it would give one
// that is free at the moment to the next who asks for any, which may be another node of the same cluster.
func FreePort(t testing.TB) int {
	t.Helper()
	const lowest, end, attempts = 10_000, 32_768, 1000
	for range attempts {
		port := lowest + rand.IntN(end-lowest)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		if listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
