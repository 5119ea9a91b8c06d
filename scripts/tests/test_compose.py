"""What the stacks in compose/ promise, as far as their text shows it; what they do, tests/containers shows."""

import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def found(pattern):
    return [(path.name, match) for path in sorted((ROOT / "compose").glob("*.yaml"))
            for match in re.findall(pattern, path.read_text(), re.MULTILINE)]


class ComposeTest(unittest.TestCase):
    def test_every_image_is_one_that_the_script_provides(self):
        listed = subprocess.run([ROOT / "scripts/images", "--list"], capture_output=True, check=True, text=True).stdout.split()
        images = [(name, re.sub(r"\$\{\w+:-(.*)\}", r"\1", image)) for name, image in found(r"^\s+image: (\S+)")]
        self.assertGreater(len(images), 5)
        missing = [pair for pair in images if pair[1] not in listed]
        self.assertEqual([], missing)

    def test_every_port_is_published_on_the_loopback_interface_alone(self):
        ports = found(r'^\s+ports: \["(.*?)"\]')
        self.assertGreater(len(ports), 8)
        self.assertEqual([], [pair for pair in ports if not pair[1].startswith("127.0.0.1:")])
        self.assertEqual(len(ports), len(found(r"^\s+ports:")), "a list of ports that this test does not read")

    def test_every_password_is_the_name_of_a_file(self):
        settings = found(r"^\s+(\w*PASSWORD\w*): *(\S+)")
        self.assertGreater(len(settings), 2)
        self.assertEqual([], [pair for pair in settings
                              if not pair[1][0].endswith("_FILE") or not pair[1][1].startswith("/run/secrets/")])

    def test_the_stack_of_ksqldb_has_the_partitions_that_its_scripts_ask_for(self):
        script = (ROOT / "stream-jobs/ksql/migrations/V000001__batches.sql").read_text()
        partitions = re.search(r"PARTITIONS = (\d+)", script)[1]
        stack = (ROOT / "compose/ksqldb.yaml").read_text()
        self.assertEqual([partitions], re.findall(r'"lifeline-setup".*"--partitions", "(\d+)"', stack))

    def test_compose_of_any_version_from_2_on_will_do(self):
        versions = {"2.40.3+ds1-0": True, "v2.6.0": True, "5.0.1": True, "10.0.0": True, "1.29.2": False, "": False}
        script = 'source scripts/lib/common.sh; source scripts/lib/engine.sh; docker() { echo "$VERSION"; }; has_compose'
        for version, fit in versions.items():
            result = subprocess.run(["bash", "-c", script], cwd=ROOT, check=False, env={**os.environ, "VERSION": version})
            self.assertEqual(fit, result.returncode == 0, version)

    def test_without_an_engine_tests_in_containers_are_left_out_unless_they_are_required(self):
        for setting, status in ("", 0), ("required", 69):
            environment = {**os.environ, "DOCKER_HOST": "unix:///nonexistent/docker.sock", "LIFELINE_CONTAINERS": setting}
            result = subprocess.run([ROOT / "scripts/test-containers"], env=environment, capture_output=True, check=False, text=True)
            self.assertEqual(status, result.returncode, result.stderr)
            self.assertRegex(result.stdout, r"^containers: .+; .+\n$")
            self.assertEqual(status == 0, "LEFT OUT" in result.stdout)


if __name__ == "__main__":
    unittest.main()
