package scenario

import (
	"reflect"
	"testing"
)

func TestAnAddressIsTakenApartAndHasAPort(t *testing.T) {
	for url, want := range map[string]Address{
		"":                        {},
		"nats://a,b:1,[::1]":      {Scheme: "nats", Hosts: []string{"a:4222", "b:1", "[::1]:4222"}},
		"wss://a/":                {Scheme: "wss", Hosts: []string{"a:443"}, TLS: true},
		"kafka://a:1/?tls=true":   {Scheme: "kafka", Hosts: []string{"a:1"}, TLS: true},
		"postgres://a/b?tls=true": {Scheme: "postgres", Hosts: []string{"a:5432"}, Path: "b", TLS: true},
	} {
		if got := (Broker{URL: url}).Address(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", url, got)
		}
	}
}

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
