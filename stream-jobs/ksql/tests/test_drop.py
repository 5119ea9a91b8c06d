"""The program that drops what the scripts made, against a server that keeps ksqlDB's rules: no package has the real one, on which
StandingQueriesTest runs it."""

import http.server
import json
import re
import subprocess
import sys
import threading
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "drop"


class Ksql(http.server.BaseHTTPRequestHandler):
    """DESCRIBE, SHOW, TERMINATE and DROP: a source that a query reads or fills cannot be dropped, and commands take a while."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        statement = request["ksql"]
        self.server.statements.append(statement)
        try:
            self.answer(200, [self.execute(statement)])
        except ValueError as error:
            self.answer(400, {"@type": "statement_error", "message": str(error)})

    def do_GET(self):
        self.answer(200, {"status": "SUCCESS", "message": ""})

    def execute(self, statement):
        sources, queries = self.server.sources, self.server.queries
        if statement.count(";") != 1:
            raise ValueError("one statement each")
        if shown := re.fullmatch(r"SHOW (STREAMS|TABLES);", statement):
            return {shown[1].lower(): [{"name": name} for name, kind in sources.items() if kind == shown[1][:-1]]}
        if described := re.fullmatch(r"DESCRIBE (\w+);", statement):
            read = [{"id": name, "sinks": [sink]} for name, (source, sink) in queries.items() if source == described[1]]
            written = [{"id": name, "sinks": [sink]} for name, (_, sink) in queries.items() if sink == described[1]]
            return {"sourceDescription": {"readQueries": read, "writeQueries": written}}
        if ended := re.fullmatch(r"TERMINATE (\w+);", statement):
            del queries[ended[1]]
            return {"commandId": f"terminate/{ended[1]}/execute", "commandStatus": {"status": "QUEUED", "message": ""}}
        if dropped := re.fullmatch(r"DROP (STREAM|TABLE) IF EXISTS (\w+)( DELETE TOPIC)?;", statement):
            if using := [name for name, ends in queries.items() if dropped[2] in ends]:
                raise ValueError(f"Cannot drop {dropped[2]}. The following queries use it: {using}")
            if sources.pop(dropped[2]) != dropped[1]:
                raise ValueError("of the other kind")
            if dropped[3]:
                self.server.topics.discard(dropped[2])
            return {"commandId": f"{dropped[1]}/{dropped[2]}/drop", "commandStatus": {"status": "SUCCESS", "message": ""}}
        raise ValueError(f"line 1:1: {statement}")

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Dropping(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ksql)
        self.server.sources = {"DISK_READ_END": "STREAM", "OPERATIONS": "STREAM", "LATEST": "TABLE", "LOOK": "STREAM", "MINE": "STREAM"}
        self.server.topics = set(self.server.sources)
        self.server.queries = {"INSERTQUERY_1": ("DISK_READ_END", "OPERATIONS"), "CTAS_LATEST_3": ("OPERATIONS", "LATEST")}
        self.server.statements = []
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def drop(self, url=None):
        url = url or f"http://127.0.0.1:{self.server.server_address[1]}"
        return subprocess.run([sys.executable, PROGRAM, url], capture_output=True, text=True, check=False)

    def test_what_the_scripts_made_goes_and_the_rest_stays(self):
        ended = self.drop()
        self.assertEqual((0, ""), (ended.returncode, ended.stderr))
        self.assertEqual({"MINE": "STREAM"}, self.server.sources)
        self.assertEqual({}, self.server.queries)
        self.assertEqual({"MINE", "DISK_READ_END"}, self.server.topics)  # events stay
        self.assertIn("dropped 4 streams and tables, ended 2 queries", ended.stdout)

    def test_nothing_is_dropped_while_somebody_elses_query_reads(self):
        self.server.queries["CSAS_MINE_7"] = ("OPERATIONS", "MINE")
        ended = self.drop()
        self.assertEqual(1, ended.returncode)
        self.assertIn("OPERATIONS is read by CSAS_MINE_7", ended.stderr)
        self.assertEqual((5, 3), (len(self.server.sources), len(self.server.queries)))

    def test_again_does_nothing(self):
        self.drop()
        self.assertIn("dropped 0 streams", self.drop().stdout)

    def test_a_server_that_is_not_there_is_an_error(self):
        ended = self.drop("http://127.0.0.1:1")
        self.assertEqual(1, ended.returncode)
        self.assertIn("no answer of http://127.0.0.1:1", ended.stderr)


if __name__ == "__main__":
    unittest.main()
