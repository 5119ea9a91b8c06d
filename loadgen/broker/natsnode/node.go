// Package natsnode is one node of an embedded NATS cluster, as a process of its own.
package natsnode

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"lifeline/loadgen/child"
)

// Role is the node's, of package child; its one argument is the file that holds the node's Config.
const Role = "nats-server"

func init() {
	child.Register(Role, func(ctx context.Context, arguments []string) error { return run(ctx, arguments, os.Stdin) })
}

// host is loopback: an embedded broker serves only this machine.
const host = "127.0.0.1"

// Config is one node. A port that is 0 is not opened.
type Config struct {
	Name        string `json:"name"`
	Port        int    `json:"port"`
	Monitor     int    `json:"monitor"` // HTTP
	WebSocket   int    `json:"websocket"`
	MQTT        int    `json:"mqtt"`
	Route       int    `json:"route"`       // from the other nodes
	Routes      []int  `json:"routes"`      // of the other nodes
	Store       string `json:"store"`       // JetStream's folder; empty: no JetStream
	Replicas    int    `json:"replicas"`    // of MQTT's sessions and messages
	Certificate string `json:"certificate"` // PEM; empty: Port is plain
	Key         string `json:"key"`         // PEM
}

// Thousands of clients connecting at once to two cores are slow, not hostile: limits that would disconnect them are raised.
const (
	clientTimeout        = 2 * time.Minute
	clientTimeoutSeconds = float64(clientTimeout / time.Second)
	maxConnections       = 1_000_000
	maxPayload           = 8 << 20
	maxPending           = 256 << 20
	maxMQTTInFlight      = 65535
	closedClientsKept    = 100 // for the monitoring page; the server's own default keeps 10,000 of them in memory
)

// run runs the node that the configuration file, its one argument, describes until ctx ends or lifeline, the parent's
// pipe, is closed.
func run(ctx context.Context, arguments []string, lifeline io.Reader) error {
	if len(arguments) != 1 {
		return fmt.Errorf("%s needs one argument, the file of the node's configuration", Role)
	}
	config, err := read(arguments[0])
	if err != nil {
		return err
	}
	options, err := options(config)
	if err != nil {
		return err
	}
	node, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("setting up NATS node %s: %w", config.Name, err)
	}
	node.ConfigureLogger()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		cancel()
	}()
	go func() {
		<-ctx.Done()
		node.Shutdown()
	}()
	node.Start()
	node.WaitForShutdown()
	if ctx.Err() == nil {
		return fmt.Errorf("NATS node %s has shut itself down", config.Name)
	}
	return nil
}

func read(file string) (Config, error) {
	var config Config
	content, err := os.ReadFile(file)
	if err != nil {
		return config, fmt.Errorf("reading the node's configuration: %w", err)
	}
	if err := json.Unmarshal(content, &config); err != nil {
		return config, fmt.Errorf("reading the node's configuration %s: %w", file, err)
	}
	return config, nil
}

func options(config Config) (*server.Options, error) {
	options := &server.Options{
		ServerName:             config.Name,
		Host:                   host,
		Port:                   config.Port,
		HTTPHost:               host,
		HTTPPort:               config.Monitor,
		MaxConn:                maxConnections,
		MaxPayload:             maxPayload,
		MaxPending:             maxPending,
		MaxClosedClients:       closedClientsKept,
		WriteDeadline:          clientTimeout,
		AuthTimeout:            clientTimeoutSeconds,
		NoSigs:                 true,
		Logtime:                true,
		DisableJetStreamBanner: true,
	}
	if config.Store != "" {
		options.JetStream = true
		options.StoreDir = config.Store
	}
	if config.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(config.Certificate), []byte(config.Key))
		if err != nil {
			return nil, fmt.Errorf("reading the certificate of node %s: %w", config.Name, err)
		}
		options.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		options.TLSTimeout = clientTimeoutSeconds
	}
	if config.WebSocket != 0 {
		options.Websocket = server.WebsocketOpts{Host: host, Port: config.WebSocket, NoTLS: true, HandshakeTimeout: clientTimeout}
	}
	if config.MQTT != 0 {
		options.MQTT = server.MQTTOpts{Host: host, Port: config.MQTT, AuthTimeout: clientTimeoutSeconds,
			StreamReplicas: config.Replicas, MaxAckPending: maxMQTTInFlight}
	}
	if config.Route != 0 {
		cluster(options, config)
	}
	return options, nil
}

// cluster configures the routes. All clients share one account, and an account uses one route connection whatever the
// pool size; so the pool size is 1, and the system account (Raft, heartbeats) gets its own route. Compression is off,
// so that bytes between nodes compare with the payloads.
func cluster(options *server.Options, config Config) {
	options.Cluster = server.ClusterOpts{Name: "fleet", Host: host, Port: config.Route, PoolSize: 1,
		WriteDeadline: clientTimeout, Compression: server.CompressionOpts{Mode: server.CompressionOff}}
	for _, port := range config.Routes {
		options.Routes = append(options.Routes, &url.URL{Scheme: "nats-route", Host: host + ":" + strconv.Itoa(port)})
	}
}
