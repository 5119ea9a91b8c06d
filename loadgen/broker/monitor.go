package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// monitorClient keeps no connections open: it sends few requests, and idle connections would use the node's descriptors.
var monitorClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// monitorTimeout bounds one request; the node may be stopped.
const monitorTimeout = 5 * time.Second

// ask reads one page of a NATS node's monitor.
func ask(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, monitorTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking the monitor: %w", err)
	}
	response, err := monitorClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the monitor: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("asking the monitor %s: it answers %s", url, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("reading the monitor's answer from %s: %w", url, err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return nil
}

// serves reports whether a node accepts clients and is connected to the other running nodes.
func (c *natsCluster) serves(ctx context.Context, i int) (bool, error) {
	var health struct {
		Status string `json:"status"`
	}
	if err := ask(ctx, c.monitors[i]+"/healthz", &health); err != nil {
		return false, err
	}
	others := c.up() - 1
	if others <= 0 {
		return true, nil
	}
	var routes server.Routez
	if err := ask(ctx, c.monitors[i]+"/routez", &routes); err != nil {
		return false, err
	}
	known := map[string]bool{}
	for _, route := range routes.Routes {
		known[route.RemoteID] = true
	}
	if len(known) < others {
		return false, fmt.Errorf("it has found %d of the %d other nodes", len(known), others)
	}
	return true, nil
}

// Counters sums the running nodes; a restarted node counts from zero.
func (c *natsCluster) Counters(ctx context.Context, run string) (Counters, error) {
	sum := Counters{Name: "NATS", Nodes: make([]Node, len(c.nodes))}
	var failed []error
	stored := map[string]int64{}
	for i, monitor := range c.monitors {
		if !c.running(i) {
			continue
		}
		version, err := add(ctx, monitor, run, &sum, &sum.Nodes[i], stored)
		if err != nil {
			failed = append(failed, fmt.Errorf("counting at node %s: %w", c.nodes[i].name, err))
			continue
		}
		sum.Name = "NATS " + version
	}
	sum.Stored = total(stored)
	return sum, errors.Join(failed...)
}

// add adds one NATS node's counters and version, and keeps the size of the fullest replica of each stream.
func add(ctx context.Context, monitor, run string, sum *Counters, share *Node, stored map[string]int64) (version string, err error) {
	var figures server.Varz
	if err := ask(ctx, monitor+"/varz", &figures); err != nil {
		return "", err
	}
	var routes server.Routez
	if err := ask(ctx, monitor+"/routez", &routes); err != nil {
		return "", err
	}
	var streams server.JSInfo
	if err := ask(ctx, monitor+"/jsz?accounts=true&streams=true", &streams); err != nil {
		return "", err
	}
	for _, account := range streams.AccountDetails {
		for _, stream := range account.Streams {
			if ofRun(stream.Name, run) || stream.Name == mqttMessages {
				stored[stream.Name] = max(stored[stream.Name], int64(stream.State.Msgs))
			}
		}
	}
	share.Name, share.Instance, share.In, share.Out = figures.Name, figures.ID, figures.InClientMsgs, figures.OutClientMsgs
	for _, route := range routes.Routes {
		share.RoutedBytes += route.OutBytes
	}
	sum.Connections += int64(figures.Connections)
	sum.In += share.In
	sum.Out += share.Out
	sum.Dropped += figures.SlowConsumers
	sum.Routed += share.RoutedBytes
	return figures.Version, nil
}

func total(stored map[string]int64) int64 {
	var all int64
	for _, messages := range stored {
		all += messages
	}
	return all
}

// mqttMessages is the stream in which a NATS server keeps what all MQTT clients publish with QoS 1 or 2.
const mqttMessages = "$MQTT_msgs"

// ofRun reports whether a stream or topic is one that the run made.
func ofRun(name, run string) bool {
	own := "fleet-" + run
	return name == own || strings.HasPrefix(name, own+"-")
}
