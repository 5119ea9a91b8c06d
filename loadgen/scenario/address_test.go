package scenario

import "testing"

func TestAPasswordIsExposedWhereItLeavesTheMachineWithoutTLS(t *testing.T) {
	for _, c := range []struct {
		url, sasl string
		exposed   bool
	}{
		{"nats://broker.example:4222", "", true},
		{"nats://127.0.0.1:4222,broker.example", "", true},
		{"kafka://10.0.0.1:9092", "plain", true},
		{"ws://localhost.example", "", true},
		{"tls://broker.example:4222", "", false},
		{"wss://broker.example", "", false},
		{"kafka://broker.example:9092/?tls=true", "plain", false},
		{"kafka://broker.example:9092", "scram-sha-512", false},
		{"nats://127.0.0.1:4222,localhost,[::1]:4222,[::1]", "", false},
	} {
		b := Broker{URL: c.url, SASL: c.sasl, PasswordFile: "password"}
		if exposed := b.ExposesPassword(); exposed != c.exposed {
			t.Errorf("%s, SASL %q: exposed %t", c.url, c.sasl, exposed)
		}
		if b.PasswordFile = ""; b.ExposesPassword() {
			t.Errorf("%s: a password that is not there is exposed", c.url)
		}
	}
}
