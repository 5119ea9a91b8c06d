package broker_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

// testTimeout bounds every wait; machines may be loaded.
const testTimeout = time.Minute

func connect(t *testing.T, url string, options ...nats.Option) *nats.Conn {
	t.Helper()
	connection, err := nats.Connect(url, append([]nats.Option{nats.Timeout(testTimeout)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	return connection
}

func count(t *testing.T, cluster broker.Cluster) broker.Counters {
	t.Helper()
	counters, err := cluster.Counters(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return counters
}

// exchange publishes messages at one node and receives them at another.
func exchange(t *testing.T, from, to string, messages int, options ...nats.Option) {
	t.Helper()
	publisher, subscriber := connect(t, from, options...), connect(t, to, options...)
	subscription, err := subscriber.SubscribeSync("fleet.test")
	if err != nil {
		t.Fatal(err)
	}
	if err := subscriber.Flush(); err != nil {
		t.Fatal(err)
	}
	for range messages {
		if err := publisher.Publish("fleet.test", []byte("message")); err != nil {
			t.Fatal(err)
		}
	}
	for range messages {
		if _, err := subscription.NextMsg(testTimeout); err != nil {
			t.Fatal(err)
		}
	}
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func TestOneNodeTakesConnectionsAndCountsThem(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats"})
	url := "nats://" + cluster.Servers()[0]
	exchange(t, url, url, 10)
	if counters := count(t, cluster); counters.Connections != 2 || counters.In != 10 || counters.Out != 10 {
		t.Errorf("the broker's counters are %+v; want 2 connections, 10 messages in and 10 out", counters)
	}
}

func TestDataFlowsOnlyToTheNodeThatHasASubscriber(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats", Broker: scenario.Broker{Nodes: 3}})
	servers := cluster.Servers()
	publisher := connect(t, "nats://"+servers[0])
	subscriber := connect(t, "nats://"+servers[1])
	subscription, err := subscriber.SubscribeSync("fleet.test")
	if err != nil {
		t.Fatal(err)
	}
	if err := subscriber.Flush(); err != nil {
		t.Fatal(err)
	}
	const messages, size = 200, 1000
	payload := make([]byte, size)
	before := count(t, cluster)
	received := 0
	for received == 0 { // until the first node knows of the interest on the second
		if err := publisher.Publish("fleet.test", payload); err != nil {
			t.Fatal(err)
		}
		if _, err := subscription.NextMsg(100 * time.Millisecond); err == nil {
			received++
		}
	}
	const last = 1
	for i := range messages {
		if i == messages-1 {
			payload[0] = last
		}
		if err := publisher.Publish("fleet.test", payload); err != nil {
			t.Fatal(err)
		}
	}
	// On a busy machine more than one of the first ones may have been under way.
	for mark := byte(0); mark != last; received++ {
		message, err := subscription.NextMsg(testTimeout)
		if err != nil {
			t.Fatal(err)
		}
		mark = message.Data[0]
	}
	after := count(t, cluster)
	if out := after.Nodes[1].Out - before.Nodes[1].Out; out != int64(received) || received < messages+1 {
		t.Errorf("the subscriber's node counts %d messages out, of which %d of %d arrived", out, received, messages+1)
	}
	if in := after.In - before.In; in < messages+1 {
		t.Errorf("the cluster counts %d messages in, want at least %d", in, messages+1)
	}
	sent := after.Nodes[0].RoutedBytes - before.Nodes[0].RoutedBytes
	if least, most := int64(messages*size), int64(messages*size*3/2); sent < least || sent > most {
		t.Errorf("the publisher's node sent %d bytes to the others: want one copy of %d bytes, not two", sent, least)
	}
}

func TestAStreamWithThreeReplicasSurvivesTheDeathOfANode(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "jetstream", Broker: scenario.Broker{Nodes: 3, Replicas: 3}})
	ctx := within(t, 3*time.Minute)
	connection := connect(t, "nats://"+strings.Join(cluster.Servers(), ",nats://"), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond))
	stream, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CreateStream(ctx, jetstream.StreamConfig{Name: "fleet-test", Subjects: []string{"fleet.>"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	publish := func(id int) {
		t.Helper()
		for {
			attempt, cancel := context.WithTimeout(ctx, time.Second)
			_, err := stream.Publish(attempt, "fleet.test", nil, jetstream.WithMsgID(fmt.Sprint(id)))
			cancel()
			if err == nil {
				return
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	const half = 50
	for i := range half {
		publish(i)
	}
	if err := cluster.Kill(0); err != nil {
		t.Fatal(err)
	}
	if pids := cluster.Processes(); pids[0] != 0 || pids[1] == 0 || pids[2] == 0 {
		t.Errorf("processes %v: want the first down and two others", pids)
	}
	for i := range half {
		publish(half + i)
	}
	if err := cluster.Start(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if stored := count(t, cluster).Stored; stored != 2*half {
		t.Errorf("wrong books: the stream holds %d messages, want %d", stored, 2*half)
	}
	if err := cluster.Err(); err != nil {
		t.Errorf("a node that was killed on purpose is reported: %v", err)
	}
}

func TestClientsTrustTheClusterByItsOwnAuthorityOnly(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats-tls"})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cluster.TLS().CA)
	url := "tls://" + cluster.Servers()[0]
	connect(t, url, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
	if connection, err := nats.Connect(url); err == nil {
		connection.Close()
		t.Error("a client without the authority was content")
	}
}

func TestWebSocketClientsAreServed(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats-websocket"})
	if err := connect(t, "ws://"+cluster.Servers()[0]).Flush(); err != nil {
		t.Error(err)
	}
}

func TestMQTTClientsAreAccepted(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "mqtt"})
	connection, err := net.Dial("tcp", cluster.Servers()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	hello := "\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01c" // CONNECT, clean session, client id "c"
	if _, err := connection.Write([]byte(hello)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4)
	if err := connection.SetReadDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(answer); err != nil {
		t.Fatal(err)
	}
	if string(answer) != "\x20\x02\x00\x00" {
		t.Errorf("the broker answers % x, not that the connection is accepted", answer)
	}
}

func TestAStoppedNodeIsDumbUntilItContinues(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats"})
	connection := connect(t, "nats://"+cluster.Servers()[0])
	if err := cluster.Stop(0); err != nil {
		t.Fatal(err)
	}
	if err := connection.FlushTimeout(200 * time.Millisecond); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("a stopped node answers (%v)", err)
	}
	if err := cluster.Continue(0); err != nil {
		t.Fatal(err)
	}
	if err := connection.Flush(); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfANodeThatNobodyKilledIsReported(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats"})
	if err := syscall.Kill(cluster.Processes()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-cluster.Exited():
	case <-within(t, testTimeout).Done():
		t.Fatal("nothing is reported")
	}
	var failure *result.Failure
	if err := cluster.Err(); !errors.As(err, &failure) || failure.Cause != result.BrokerExit {
		t.Fatalf("it is reported as %v", err)
	}
	for _, part := range []string{"node-0", "killed", "Server is ready"} {
		if !strings.Contains(failure.Message, part) {
			t.Errorf("%q does not tell %q", failure.Message, part)
		}
	}
}

func TestANodeThatIsToldNonsenseAnswersWithAnError(t *testing.T) {
	systemtest.Mark(t)
	cluster := start(t, scenario.Scenario{Transport: "nats"})
	for what, err := range map[string]error{
		"kill node 1 of 1":      cluster.Kill(1),
		"start one that runs":   cluster.Start(t.Context(), 0),
		"continue node minus 1": cluster.Continue(-1),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
