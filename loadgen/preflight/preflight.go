// Package preflight says before anything is started whether a machine can hold a fleet, and how the fleet is best spread. A
// fleet that does not fit is refused with the numbers: a broker that runs out of descriptors would crash.
package preflight

import (
	"fmt"

	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/kind"
)

// Plan is how a fleet is spread: over worker processes, and over source addresses, which are 127.0.0.1 and up for a broker on this
// machine.
type Plan struct{ Workers, Sources int }

// Check plans the scenario on this machine. What the machine cannot do is a *result.Failure.
func Check(s scenario.Scenario, traits transport.Traits) (Plan, error) {
	machine, err := Read()
	if err != nil {
		return Plan{}, err
	}
	return machine.Plan(s, traits)
}

// What a worker holds besides the fleet's connections: descriptors and bytes.
const (
	workerReserve = 100 // pipes, the poller, a library's own
	workerBytes   = 64 << 20
)

// portsInUse is the share of a source address's ports that is planned with: the kernel searches long for the last ones, and
// those of earlier connections rest for a minute.
const portsInUse = 0.6

// memoryInUse is the share of the available memory that a fleet may take.
const memoryInUse = 0.9

// Plan plans the scenario on the machine.
func (m Machine) Plan(s scenario.Scenario, traits transport.Traits) (Plan, error) {
	f := measure(s, traits)
	plan, err := m.workers(f)
	if err != nil {
		return plan, err
	}
	f.subscriptions = plan.Workers * f.nodes * max(1, s.Subscribers.Count)
	if f.embedded {
		if err := m.broker(f); err != nil {
			return plan, err
		}
	}
	if plan.Sources, err = m.sources(f); err != nil {
		return plan, err
	}
	if err := m.tracking(f); err != nil {
		return plan, err
	}
	return plan, m.memory(f, plan.Workers)
}

// fleet is a scenario in the units of the limits.
type fleet struct {
	scenario      scenario.Scenario
	traits        transport.Traits
	connections   int
	sockets       int // of one connection
	nodes         int
	survivors     int // nodes that hold all generators while the scenario's faults last
	embedded      bool
	own           kind.Broker // one node's, besides connections
	loopback      bool
	subscriptions int
}

func measure(s scenario.Scenario, traits transport.Traits) fleet {
	f := fleet{scenario: s, traits: traits, connections: s.Generators, sockets: max(1, traits.Descriptors),
		nodes: max(1, s.Broker.Nodes), embedded: s.Broker.URL == "", loopback: true}
	if s.Connections.Pool > 0 {
		f.connections = min(f.connections, s.Connections.Pool)
	}
	if own := s.Kind().Broker; own != nil {
		f.own = *own
	}
	if !f.embedded {
		hosts := s.Broker.Address().Hosts
		f.nodes = max(1, len(hosts))
		for _, host := range hosts {
			f.loopback = f.loopback && scenario.IsThisMachine(host)
		}
	}
	hit := map[int]bool{}
	for _, fault := range s.Faults {
		hit[fault.Node] = true
	}
	if s.Subscribers.Node == "apart" {
		hit[f.nodes-1] = true // generators do not use it
	}
	f.survivors = max(1, f.nodes-len(hit))
	return f
}

// perNode is how many sockets one node holds when the survivors of all faults hold everything.
func (f fleet) perNode() int { return ceil((f.connections+f.subscriptions)*f.sockets, f.survivors) }

// workers spreads the connections over processes.
func (m Machine) workers(f fleet) (Plan, error) {
	own := workerReserve + f.nodes*max(1, f.scenario.Subscribers.Count)*f.sockets // a worker subscribes for its own generators
	each := (m.Descriptors - own) / f.sockets
	if each < 1 {
		return Plan{}, failure(result.Descriptors, "a process may have %d descriptors, and a worker of this fleet needs %d "+
			"before its first connection; raise the limit (`ulimit -n`)", m.Descriptors, own)
	}
	needed := ceil(f.connections, each)
	if asked := f.scenario.Workers; asked > 0 && asked < needed {
		return Plan{}, failure(result.Descriptors, "%d connections with up to %d descriptors each do not fit into %d worker "+
			"processes of %d descriptors; give it `workers: %d` or more, or none for as many as it needs, or raise the limit "+
			"(`ulimit -n`)", f.connections, f.sockets, asked, m.Descriptors, needed)
	}
	if all := f.connections*f.sockets*2 + f.nodes*f.own.Descriptors; f.embedded && all > m.Files {
		return Plan{}, failure(result.Descriptors, "%d connections to a broker on this machine need %d open files in all, and "+
			"the system allows %d more; raise fs.file-max", f.connections, all, m.Files)
	}
	return Plan{Workers: max(1, min(f.connections, max(needed, f.scenario.Workers)))}, nil
}

// broker checks that no node runs out of descriptors, not even while others are down.
func (m Machine) broker(f fleet) error {
	reserve, name := f.own.Descriptors, f.own.Name
	room := m.Descriptors - reserve
	if f.perNode() <= room {
		return nil
	}
	down := ""
	if len(f.scenario.Faults) > 0 && f.survivors < f.nodes {
		down = fmt.Sprintf(" (while %d of %d are down by the scenario's faults)", f.nodes-f.survivors, f.nodes)
	}
	most := max(0, room*f.survivors/f.sockets-f.subscriptions)
	return failure(result.Descriptors, "%d connections of up to %d descriptors and %d subscriptions are %d for each node%s, and a "+
		"%s node has room for %d: %d of a process less %d for its own files; at most %d generators with connections of their own "+
		"fit, or give it more broker.nodes, or pooled connections, or raise the limit (`ulimit -n`)",
		f.connections, f.sockets, f.subscriptions, f.perNode(), down, name, room, m.Descriptors, reserve, most)
}

// sources spreads the connections over source addresses, of which each has its ports for every node.
func (m Machine) sources(f fleet) (int, error) {
	perNode := f.perNode()
	most := dial.MaxSources
	if !f.loopback {
		most = max(1, m.Sources) // without further addresses the kernel chooses this machine's one
	}
	asked := f.scenario.Sources
	if asked > 0 {
		most = min(most, asked)
	}
	if perNode > most*m.Ports {
		return 0, failure(result.Ports, "%d connections to each node need as many ports, and %d source addresses have %d: %d each; "+
			"%s", perNode, most, most*m.Ports, m.Ports, advice(f, ceil(perNode, m.Ports)))
	}
	if asked > 0 || !f.loopback {
		return most, nil
	}
	return min(most, max(1, ceil(perNode, int(float64(m.Ports)*portsInUse)))), nil
}

func advice(f fleet, needed int) string {
	if !f.loopback {
		return fmt.Sprintf("widen net.ipv4.ip_local_port_range, use more broker nodes, more agents, an agent with %d addresses "+
			"(`fleet agent --sources`), or pooled connections", needed)
	}
	return fmt.Sprintf("give it `source_addresses: %d` or more, or none for as many as it needs", needed)
}

// tracking checks that the kernel can enter all connections into its table: it drops the packets of those that it cannot, which
// looks like a broker that does not answer.
func (m Machine) tracking(f fleet) error {
	needed := (f.connections + f.subscriptions) * f.sockets
	if needed <= m.Tracked {
		return nil
	}
	return failure(result.Conntrack, "a firewall's rules have the kernel track every connection, and its table has room for %d more "+
		"of the %d that the fleet needs; raise net.netfilter.nf_conntrack_max, remove the rules, or wait two minutes where another "+
		"fleet has just ended: its connections stay in the table so long", m.Tracked, needed)
}

// memory checks what client and embedded broker need together.
func (m Machine) memory(f fleet, workers int) error {
	flights := int64(generator.Memory(f.scenario)) * int64(f.scenario.Generators)
	client := int64(f.connections)*int64(f.traits.ClientBytes) + flights + int64(workers)*workerBytes
	var broker int64
	if f.embedded {
		broker = int64(f.connections)*int64(f.traits.BrokerBytes) + int64(f.nodes)*f.own.Bytes
	}
	most := int64(float64(m.Memory) * memoryInUse)
	if client+broker <= most {
		return nil
	}
	const mebibyte = 1 << 20
	return failure(result.Memory, "the fleet needs about %d MiB (client %d, of these %d to remember messages under way; broker %d), and "+
		"%d of %d MiB available may be used; use fewer generators, pooled connections, a longer interval or `client: minimal`",
		(client+broker)/mebibyte, client/mebibyte, flights/mebibyte, broker/mebibyte, most/mebibyte, m.Memory/mebibyte)
}

func failure(cause result.Cause, format string, values ...any) error {
	return &result.Failure{Cause: cause, Message: fmt.Sprintf(format, values...)}
}

func ceil(value, by int) int { return (value + by - 1) / by }
