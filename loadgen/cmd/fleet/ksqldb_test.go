package main

import (
	"strings"
	"testing"
)

func TestKsqlDBAndItsKafkaAreNamedTogether(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{"--ksqldb", "http://127.0.0.1:1"}, 2, "--kafka URL is missing"},
		{[]string{"--ksqldb", "http://127.0.0.1:1", "--kafka-user", "ann"}, 2, "--kafka URL is missing"},
		{[]string{"--kafka", "kafka://127.0.0.1:1"}, 2, "--ksqldb URL is missing"},
		{[]string{"--ksqldb-user", "ann"}, 2, "--ksqldb URL is missing"},
		{[]string{"--ksqldb", "http://127.0.0.1:1", "--kafka", "kafka://ann:secret@127.0.0.1:1"}, 2, "--kafka-password-file"},
		{[]string{"--ksqldb", "http://ann:secret@127.0.0.1:1", "--kafka", "kafka://127.0.0.1:1"}, 1, "a user and a password file"},
		{[]string{"--ksqldb", "http://127.0.0.1:1", "--kafka", "nats://127.0.0.1:1"}, 1, "kafka://"},
		{[]string{"--ksqldb", "http://127.0.0.1:1", "--kafka", "kafka://127.0.0.1:1"}, 1, "no ksqlDB answers at http://127.0.0.1:1"},
		{[]string{"--only", "secondary-ksqldb-50"}, 1, "--ksqldb URL --kafka URL"},
	} {
		code, text := printed(t, append([]string{"study", "--out", t.TempDir()}, c.arguments...)...)
		if code != c.code || !strings.Contains(text, c.says) || strings.Contains(text, "secret") {
			t.Errorf("%v: exit %d, %q", c.arguments, code, text)
		}
	}
}

func TestPointsOfKsqlDBAreListedWithTheCommandThatMeasuresThem(t *testing.T) {
	code, text := printed(t, "study", "--list", "--ksqldb", "http://a:8088", "--kafka", "kafka://a", "--only", "secondary-ksqldb-*")
	if want := "fleet study --out FOLDER --ksqldb URL --kafka URL --only secondary-ksqldb-200"; code != 0 || !strings.Contains(text, want) {
		t.Errorf("exit %d, %q", code, text)
	}
}
