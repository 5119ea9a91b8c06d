package kafkawire

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/kafkalib"
)

// stub is a broker that answers a produce request as a test tells it to: what a healthy broker never sends.
type stub struct {
	address  string
	greeting []byte        // nil: silence
	requests chan produced // in the order in which they came, over whichever connection
}

// produced is a request that waits for its answer.
type produced struct {
	correlation int32
	batch       kmsg.RecordBatch
	values      []string
	socket      net.Conn
}

func newStub(t *testing.T) *stub {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{address: listener.Addr().String(), requests: make(chan produced, 10), greeting: greeting(3, 13)}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { socket.Close() })
			go s.serve(t, socket)
		}
	}()
	return s
}

// greeting says which versions of Produce the broker takes.
func greeting(from, to int16) []byte {
	answer := kmsg.NewPtrApiVersionsResponse()
	answer.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: 3, MaxVersion: 12}, {ApiKey: 0, MinVersion: from, MaxVersion: to}}
	return answer.AppendTo(nil)
}

func (s *stub) serve(t *testing.T, socket net.Conn) {
	for {
		var length [4]byte
		if _, err := io.ReadFull(socket, length[:]); err != nil {
			return
		}
		request := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(socket, request); err != nil {
			return
		}
		key := int16(binary.BigEndian.Uint16(request))
		correlation := int32(binary.BigEndian.Uint32(request[4:]))
		name := int(binary.BigEndian.Uint16(request[8:]))
		body := request[10+name:]
		if key == kmsg.ApiVersions.Int16() {
			if s.greeting != nil {
				socket.Write(framed(correlation, s.greeting))
			}
			continue
		}
		s.requests <- decode(t, correlation, body, socket)
	}
}

// decode reads a produce request with a third-party decoder.
func decode(t *testing.T, correlation int32, body []byte, socket net.Conn) produced {
	request := kmsg.NewPtrProduceRequest()
	request.Version = produceVersion
	p := produced{correlation: correlation, socket: socket}
	if err := request.ReadFrom(body); err != nil || len(request.Topics) != 1 || len(request.Topics[0].Partitions) != 1 {
		t.Errorf("not a produce request of one partition: %v, %+v", err, request)
		return p
	}
	if err := p.batch.ReadFrom(request.Topics[0].Partitions[0].Records); err != nil {
		t.Errorf("not a record batch: %v", err)
		return p
	}
	rest := p.batch.Records
	for range p.batch.NumRecords {
		size, bytes := binary.Varint(rest)
		var record kmsg.Record
		if err := record.ReadFrom(rest[:bytes+int(size)]); err != nil {
			t.Errorf("not a record: %v", err)
		}
		rest = rest[bytes+int(size):]
		p.values = append(p.values, string(record.Value))
	}
	return p
}

func framed(correlation int32, body []byte) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	return append(binary.BigEndian.AppendUint32(frame, uint32(correlation)), body...)
}

// answerTo is a healthy broker's answer with the given error code, about topics with a partition each.
func answerTo(code int16, topics ...string) []byte {
	answer := kmsg.NewPtrProduceResponse()
	answer.Version = produceVersion
	for _, name := range topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic = name
		partition := kmsg.NewProduceResponseTopicPartition()
		partition.Partition, partition.ErrorCode = 4, code
		topic.Partitions = append(topic.Partitions, partition)
		answer.Topics = append(answer.Topics, topic)
	}
	return answer.AppendTo(nil)
}

// topicOfTests is the one that the stub leads partition 4 of.
const topicOfTests = "fleet-stub-channel"

func (s *stub) transport(t *testing.T) *Transport {
	t.Helper()
	made, err := New(transport.Settings{Servers: []string{s.address}, Acknowledgement: "leader", Run: "stub", Dialer: dial.New(1, time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	made.leaders.ask = func(context.Context, string) ([]kafkalib.Leader, error) {
		return []kafkalib.Leader{{Partition: 4, Address: s.address}}, nil
	}
	return made
}

func (s *stub) next(t *testing.T) produced {
	t.Helper()
	select {
	case request := <-s.requests:
		return request
	case <-time.After(20 * time.Second):
		t.Fatal("no request came")
		return produced{}
	}
}
