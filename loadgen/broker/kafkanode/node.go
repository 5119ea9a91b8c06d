// Package kafkanode runs one node of an embedded Kafka cluster, broker and controller (KRaft) in one, from the jars that
// Maven Central publishes.
package kafkanode

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Config is one node of a cluster. All nodes of a cluster have the same Controllers, Cluster and Replicas.
type Config struct {
	ID          int // index of this node
	Port        int // for clients, and for the other nodes
	Controllers []int
	Cluster     string // its id: 16 bytes in base64
	Jars        string // folder
	Folder      string // for everything that the node writes
	Connections int    // that it will have to hold
}

//go:embed log4j2.properties
var logging []byte

// Prepare writes the node's configuration and formats its storage.
func (c Config) Prepare(ctx context.Context) error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of a Kafka node: %w", err)
	}
	if err := os.WriteFile(c.file("server.properties"), []byte(c.properties()), 0o600); err != nil {
		return fmt.Errorf("writing the configuration of a Kafka node: %w", err)
	}
	if err := os.WriteFile(c.file("log4j2.properties"), logging, 0o600); err != nil {
		return fmt.Errorf("writing the configuration of a Kafka node: %w", err)
	}
	arguments := append(c.java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "kafka.tools.StorageTool", "format",
		"--cluster-id", c.Cluster, "--config", c.file("server.properties"))
	command := exec.CommandContext(ctx, "java", arguments...)
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("formatting the storage of a Kafka node: %w:\n%s", err, output)
	}
	return nil
}

// Command runs the node; Prepare must have been called once.
func (c Config) Command() *exec.Cmd {
	heap := fmt.Sprintf("%dm", c.heap())
	arguments := append(c.java(), "-Xms"+heap, "-Xmx"+heap, "-XX:+ExitOnOutOfMemoryError",
		// What Kafka's own start script asks for.
		"-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
		"kafka.Kafka", c.file("server.properties"))
	return exec.Command("java", arguments...)
}

func (c Config) file(name string) string { return filepath.Join(c.Folder, name) }

func (c Config) java() []string {
	return []string{"-cp", filepath.Join(c.Jars, "*"), "-Djava.net.preferIPv4Stack=true", "-Djava.awt.headless=true",
		"-XX:-UsePerfData", "-Dlog4j2.configurationFile=" + c.file("log4j2.properties")}
}

// heap in MiB: a base, plus buffers and pending requests per connection.
func (c Config) heap() int {
	const base, perConnection = 512, 64.0 / 1024
	return base + int(perConnection*float64(c.Connections))
}

func (c Config) properties() string {
	nodes := len(c.Controllers)
	voters := make([]string, nodes)
	for id, port := range c.Controllers {
		voters[id] = fmt.Sprintf("%d@127.0.0.1:%d", id, port)
	}
	copies := strconv.Itoa(min(3, nodes))
	inSync := strconv.Itoa(max(1, min(3, nodes)-1))
	lines := []string{
		"process.roles=broker,controller",
		"node.id=" + strconv.Itoa(c.ID),
		"controller.quorum.voters=" + strings.Join(voters, ","),
		"controller.listener.names=CONTROLLER",
		fmt.Sprintf("listeners=CLIENT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", c.Port, c.Controllers[c.ID]),
		fmt.Sprintf("advertised.listeners=CLIENT://127.0.0.1:%d", c.Port),
		"inter.broker.listener.name=CLIENT",
		"listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"log.dirs=" + c.file("data"),
		// A fleet connects all at once; beyond the default backlog of 50, connections would wait for a SYN retransmission.
		"socket.listen.backlog.size=4096",
		// Internal topics as safe as the cluster allows, with few partitions so that they are there quickly.
		"offsets.topic.replication.factor=" + copies,
		"offsets.topic.num.partitions=4",
		"transaction.state.log.replication.factor=" + copies,
		"transaction.state.log.min.isr=" + inSync,
		"transaction.state.log.num.partitions=12",
		"share.coordinator.state.topic.replication.factor=" + copies,
		"share.coordinator.state.topic.min.isr=" + inSync,
		"group.initial.rebalance.delay.ms=0",
		// A missing topic must be an error, not a new topic with one partition.
		"auto.create.topics.enable=false",
	}
	return strings.Join(lines, "\n") + "\n"
}

// Variable names the environment variable that says where Kafka's jars are.
const Variable = "LIFELINE_KAFKA_JARS"

// Find returns the folder of Kafka's jars: the given one, the one of the environment, or where `scripts/broker install
// kafka` puts them in the checkout that holds this program or the working directory.
func Find(folder string) (string, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", errors.New("an embedded Kafka needs Java 17 or later, and there is no `java` in the PATH; " +
			"install a JDK, or name a broker of your own with broker.url")
	}
	var candidates []string
	if folder == "" {
		folder = os.Getenv(Variable)
	}
	if folder != "" {
		candidates = []string{folder}
	} else {
		candidates = checkouts()
	}
	for _, candidate := range candidates {
		if jars, err := filepath.Glob(filepath.Join(candidate, "kafka_2*.jar")); err == nil && len(jars) > 0 {
			return filepath.Abs(candidate)
		}
	}
	looked := "build/deps/kafka above the working directory and above this program"
	if folder != "" {
		looked = folder
	}
	return "", fmt.Errorf("an embedded Kafka needs Kafka's jars, and there are none in %s; `scripts/broker install kafka` "+
		"fetches them from Maven Central, broker.kafka_jars or %s names another folder", looked, Variable)
}

// Version returns the version of the jars in a folder, such as 4.3.1; empty if their names do not contain it.
func Version(folder string) string {
	jars, err := filepath.Glob(filepath.Join(folder, "kafka_2*-*.jar"))
	if err != nil || len(jars) == 0 {
		return ""
	}
	_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(jars[0]), ".jar"), "-")
	return version
}

// checkouts lists candidate folders: below each parent of the working directory, then of this program.
func checkouts() []string {
	var found []string
	add := func(folder string, err error) {
		for err == nil {
			found = append(found, filepath.Join(folder, "build", "deps", "kafka"))
			parent := filepath.Dir(folder)
			if parent == folder {
				return
			}
			folder = parent
		}
	}
	add(os.Getwd())
	program, err := os.Executable()
	add(filepath.Dir(program), err)
	return found
}
