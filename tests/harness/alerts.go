package harness

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Alert is what a test looks at of one that a job published.
type Alert struct {
	State, Group, Subject string
	Chance                float64
}

// Alerts are those that jobs publish through a NATS server from a moment on.
type Alerts struct {
	mutex sync.Mutex
	seen  []Alert
}

// WatchAlerts begins to collect alerts.
func WatchAlerts(t T, broker *Broker) *Alerts {
	t.Helper()
	alerts := &Alerts{}
	connection, err := nats.Connect(broker.URL, nats.Timeout(nextMessageWithin))
	if err != nil {
		t.Fatalf("cannot connect: %v", err)
	}
	t.Cleanup(connection.Close)
	_, err = connection.Subscribe("lifeline.alerts", func(message *nats.Msg) {
		var alert Alert
		if json.Unmarshal(message.Data, &alert) == nil {
			alerts.mutex.Lock()
			defer alerts.mutex.Unlock()
			alerts.seen = append(alerts.seen, alert)
		}
	})
	if err == nil {
		err = connection.FlushTimeout(nextMessageWithin)
	}
	if err != nil {
		t.Fatalf("cannot subscribe: %v", err)
	}
	return alerts
}

// Raised are those of a group in their order, without the cleared ones.
func (a *Alerts) Raised(group string) []Alert {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var raised []Alert
	for _, alert := range a.seen {
		if alert.Group == group && alert.State == "on" {
			raised = append(raised, alert)
		}
	}
	return raised
}

// WaitFor waits until the subject was raised for the group, and reports whether it was.
func (a *Alerts) WaitFor(group, subject string) bool {
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for _, alert := range a.Raised(group) {
			if alert.Subject == subject {
				return true
			}
		}
	}
	return false
}
