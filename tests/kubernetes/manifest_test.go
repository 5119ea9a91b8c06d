// Package kubernetes holds the fleet's manifest to Kubernetes' own types, and to the program that it starts.
package kubernetes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	manifest = "../../loadgen/kubernetes/fleet.yaml"
	program  = "../../build/bin/fleet"
)

// objects are the manifest's, decoded strictly: a key that its type does not have, or has twice, is an error.
type objects struct {
	settings core.ConfigMap
	service  core.Service
	agents   apps.StatefulSet
	run      batch.Job
}

func read(t *testing.T) (o objects) {
	t.Helper()
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var kind struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		into, known := map[string]any{
			"v1 ConfigMap": &o.settings, "v1 Service": &o.service, "apps/v1 StatefulSet": &o.agents, "batch/v1 Job": &o.run,
		}[kind.APIVersion+" "+kind.Kind]
		if !known {
			t.Fatalf("an object of %+v", kind)
		}
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
	}
	return o
}

func TestEveryKeyIsOneOfKubernetes(t *testing.T) { read(t) }

func TestNamesFitTogether(t *testing.T) {
	o := read(t)
	labels := o.agents.Spec.Template.Labels
	if o.service.Spec.ClusterIP != core.ClusterIPNone || o.service.Name != o.agents.Spec.ServiceName ||
		o.service.Spec.Selector["app"] != labels["app"] || o.agents.Spec.Selector.MatchLabels["app"] != labels["app"] {
		t.Errorf("the service %+v is not that of the agents %+v", o.service.Spec, o.agents.Spec.Selector)
	}
	args := o.run.Spec.Template.Spec.Containers[0].Args
	list, _ := strings.CutPrefix(args[slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--agents=") })], "--agents=")
	agents := strings.Split(list, ",")
	if len(agents) != int(*o.agents.Spec.Replicas) || agents[0] != o.agents.Name+"-0."+o.service.Name+":7070" {
		t.Errorf("%d replicas, and the agents are %q", *o.agents.Spec.Replicas, agents)
	}
	for _, pod := range []core.PodSpec{o.agents.Spec.Template.Spec, o.run.Spec.Template.Spec} {
		var volumes, mounts []string
		for _, volume := range pod.Volumes {
			volumes = append(volumes, volume.Name)
		}
		for _, mount := range pod.Containers[0].VolumeMounts {
			mounts = append(mounts, mount.Name)
		}
		if !slices.Equal(volumes, mounts) {
			t.Errorf("volumes %q, mounts %q", volumes, mounts)
		}
	}
}

func TestPodsAreRestricted(t *testing.T) {
	o := read(t)
	for _, pod := range []core.PodSpec{o.agents.Spec.Template.Spec, o.run.Spec.Template.Spec} {
		own, all := pod.Containers[0].SecurityContext, pod.SecurityContext
		if !*all.RunAsNonRoot || all.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault || !*own.ReadOnlyRootFilesystem ||
			*own.AllowPrivilegeEscalation || !slices.Equal(own.Capabilities.Drop, []core.Capability{"ALL"}) || *pod.AutomountServiceAccountToken {
			t.Errorf("%+v, %+v", all, own)
		}
		if requests := pod.Containers[0].Resources.Requests; requests.Cpu().IsZero() || requests.Memory().IsZero() {
			t.Errorf("requests %v", requests)
		}
	}
}

func TestTheProgramHasTheOptionsAndTakesTheScenario(t *testing.T) {
	o := read(t)
	for _, pod := range []core.PodSpec{o.agents.Spec.Template.Spec, o.run.Spec.Template.Spec} {
		args := pod.Containers[0].Args
		help, err := exec.Command(program, args[0], "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range args[1:] {
			option, _, _ := strings.Cut(arg, "=")
			if strings.HasPrefix(option, "--") && !regexp.MustCompile(`(?m)^  `+option+` `).Match(help) {
				t.Errorf("fleet %s has no option %s", args[0], option)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, []byte(o.settings.Data["scenario.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(program, "validate", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
