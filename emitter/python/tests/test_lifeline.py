"""What Python programs emit is what arrives. Each runs in a process of its own, as an emitter does."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("LIFELINE_BUILD", PACKAGE.parents[1] / "build" / "emitter"))


class Run:
    """A finished program, and the events that came of it."""

    def __init__(self, finished, directory):
        self.returncode, self.output = finished.returncode, finished.stdout + finished.stderr
        self.batches = []
        archive = Path(directory, "out.llb")
        if archive.exists():
            decoded = subprocess.run([BUILD / "bin" / "lifeline-decode", "--concatenated"],
                                     input=archive.read_bytes(), capture_output=True, check=True)
            self.batches = [json.loads(line) for line in decoded.stdout.splitlines()]

    def events(self):
        for batch in self.batches:
            types = {type["number"]: type for type in batch["types"]}
            for event in batch["events"]:
                type = types[event["type"]]
                yield type, dict(zip((field["name"] for field in type["fields"]), event["fields"]))

    def named(self, name):
        return [fields for type, fields in self.events() if type["name"] == name]


class Programs(unittest.TestCase):
    def run_python(self, program, **settings):
        with tempfile.TemporaryDirectory(dir=os.environ.get("LIFELINE_TEST_MEMORY", "/dev/shm")) as directory:
            environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
            environment |= {"PYTHONPATH": str(PACKAGE), "LIFELINE_LIBRARY": str(BUILD / "lib" / "liblifeline.so.0"),
                            "LIFELINE_RING_DIR": f"{directory}/rings", "LIFELINE_SESSION_DIR": f"{directory}/sessions", "LIFELINE_URL": f"file://{directory}/out.llb"}
            environment["PYTHONWARNINGS"] = "ignore::DeprecationWarning"  # from 3.12 on, of a fork beside any thread
            environment |= settings
            environment = {key: value for key, value in environment.items() if value is not None}
            finished = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                                      env=environment, timeout=60, cwd=directory)
            return Run(finished, directory)

    def run_well(self, program, **settings):
        run = self.run_python(program, **settings)
        self.assertEqual((run.returncode, run.output), (0, ""))
        return run


class Lifeline(Programs):
    def test_values_become_typed_fields(self):
        run = self.run_well("""
            import lifeline
            lifeline.emit("a.b", n=-5, x=0.5, ok=True, text="gr\\u00fc\\u00df", raw=b"\\0\\xff", big=2**64 - 1,
                          port=lifeline.U32(443), none=None)
        """)
        [(type, fields)] = run.events()
        self.assertEqual(type["name"], "a.b")
        self.assertEqual(type["level"], "info")
        self.assertEqual([field["type"] for field in type["fields"]],
                         ["i64", "f64", "bool", "string", "bytes", "u64", "u32", "string"])
        self.assertEqual(fields, {"n": "-5", "x": 0.5, "ok": True, "text": "gr\u00fc\u00df", "raw": "00ff",
                                  "big": str(2**64 - 1), "port": 443, "none": "None"})

    def test_a_declared_type_takes_values_in_order_and_by_name(self):
        run = self.run_well("""
            import lifeline
            READ = lifeline.EventType("disk.read.end", [("u64", "id", ""), ("f32", "load", "%")], level="debug")
            READ(7, 0.5)
            READ(8, load=1)
            READ(load=2, id=9)
            assert lifeline.flush()
        """)
        self.assertEqual(run.named("disk.read.end"),
                         [{"id": "7", "load": 0.5}, {"id": "8", "load": 1}, {"id": "9", "load": 2}])
        self.assertEqual([type["level"] for type, _ in run.events()], ["debug"] * 3)

    def test_a_session_is_in_the_batches_and_in_children(self):
        run = self.run_well("""
            import lifeline, os, subprocess, sys
            lifeline.emit("before", x=1)
            with lifeline.session("outer") as outer:
                lifeline.emit("outside", session=outer.id)
                with lifeline.session("inner \\0\\udcff", traceparent="no trace") as inner:
                    lifeline.emit("inside", session=inner.id)
                    assert inner.parent == outer.id and inner.traceparent[3:35] == inner.id
                    program = "import lifeline; lifeline.emit('child', session=" + repr(inner.id) + ")"
                    subprocess.run([sys.executable, "-c", program], env=inner.environ(), check=True)
            lifeline.emit("after", x=1)
            assert outer.parent is None and lifeline.stats()["refused"] == 0
        """, LIFELINE_CONTEXT="resource.rack=7")
        found = {}
        for batch in run.batches:
            types = {type["number"]: type["name"] for type in batch["types"]}
            context = dict(batch["context"])
            self.assertEqual(context["resource.rack"], "7")
            for event in batch["events"]:
                found[types[event["type"]]] = (context, event["fields"])
        for name in ("outside", "inside", "child"):
            self.assertEqual(found[name][0]["session"], found[name][1][0])
        self.assertEqual(found["child"][0]["parent"], found["outside"][1][0])
        self.assertNotIn("session", found["before"][0])
        self.assertNotIn("session", found["after"][0])
        self.assertEqual(sorted(fields["name"] for fields in run.named("session.start")), ["inner ", "outer"])
        self.assertEqual([fields["ok"] for fields in run.named("session.end")], [True, True])

    def test_a_session_that_an_exception_leaves_is_not_ok(self):
        run = self.run_well("""
            import lifeline
            for error in (ValueError(), KeyboardInterrupt(), SystemExit(3), SystemExit(0), SystemExit()):
                try:
                    with lifeline.session("s"):
                        raise error
                except BaseException as left:
                    assert left is error
        """)
        self.assertEqual([fields["ok"] for fields in run.named("session.end")], [False, False, False, True, True])

    def test_a_session_joins_a_trace_of_a_header(self):
        trace = "0af7651916cd43dd8448eb211c80319c"
        run = self.run_well(f"""
            import lifeline
            with lifeline.session("s", traceparent="00-{trace}-b7ad6b7169203331-01") as joined:
                assert joined.id == "{trace}" and joined.traceparent[36:52] != "b7ad6b7169203331"
        """)
        self.assertEqual([fields["id"] for fields in run.named("session.start")], [trace])

    def test_sessions_never_raise(self):
        for settings in ({"LIFELINE_LIBRARY": "/nonexistent", "LIFELINE_URL": None}, {"LIFELINE_URL": None}):
            self.run_well("""
                import lifeline, contextlib
                with lifeline.session(object(), traceparent=b"\\xff") as one:
                    assert len(one.id) == 32 and "PATH" in one.environ()
                with contextlib.ExitStack() as stack:
                    for _ in range(40):
                        stack.enter_context(lifeline.session("s"))
            """, **settings)
        run = self.run_python("""
            import lifeline, contextlib
            with contextlib.ExitStack() as stack:
                for _ in range(20):
                    stack.enter_context(lifeline.session("s"))
            assert lifeline.stats()["refused"] == 4
        """)
        self.assertEqual((run.returncode, run.output.count("session.start")), (0, 1), run.output)
        self.assertEqual(len(run.named("session.end")), 16)

    def test_a_wrong_declaration_is_an_error(self):
        run = self.run_well("""
            import lifeline
            def refuses(error, call):
                try:
                    call()
                except error:
                    return
                raise SystemExit(f"{call.__code__.co_firstlineno}: not refused")
            refuses(ValueError, lambda: lifeline.EventType("a", [("i128", "x", "")]))
            refuses(lifeline.LifelineError, lambda: lifeline.EventType("a", [("i32", "x", ""), ("i32", "x", "")]))
            refuses(lifeline.LifelineError, lambda: lifeline.EventType("", []))
            refuses(lifeline.LifelineError, lambda: lifeline.EventType("n" * 256, []))
            refuses(TypeError, lambda: lifeline.init(colour="blue"))
            refuses(ValueError, lambda: lifeline.init(policy="wait"))
        """)
        self.assertEqual(list(run.events()), [])

    def test_emitting_never_raises_and_counts_what_can_be_no_event(self):
        program = """
            import logging, lifeline
            class Broken:
                def __str__(self): raise RuntimeError("no text")
                __repr__ = __hash__ = __index__ = __bool__ = __len__ = __str__
            T = lifeline.EventType("t", [("u32", "x", "")])
            calls = [lambda: lifeline.emit("", x=1), lambda: lifeline.emit("n" * 256, x=1), lambda: lifeline.emit("a\\0b", x=1),
                     lambda: lifeline.emit(Broken(), x=1), lambda: lifeline.emit(["a"], x=1), lambda: lifeline.emit("a", "loud", x=1),
                     lambda: lifeline.emit("a", Broken(), x=1), lambda: lifeline.emit("a", x=lifeline.U32(-1)),
                     lambda: lifeline.emit("a", x=lifeline.U64("seven")), lambda: lifeline.emit("a", **{"": 1}),
                     lambda: lifeline.emit("a", **{f"f{i}": i for i in range(256)}),
                     lambda: T(-1), lambda: T(2**32), lambda: T("one"), lambda: T(Broken()), lambda: T(), lambda: T(1, 2),
                     lambda: T(1, x=2), lambda: T(y=2)]
            for call in calls:
                call()
            lifeline.emit("text", big=2**70, small=-2**63 - 1, digits=10**5000, broken=Broken())
            lifeline.flush()
            logging.getLogger("lifeline").warning("refused=%d of %d", lifeline.stats()["refused"], len(calls))
        """
        run = self.run_python(program)
        self.assertEqual(0, run.returncode, run.output)
        self.assertIn("refused=19 of 19", run.output)
        self.assertIn("event 't' is refused, and counted: OverflowError: -1 does not fit into u32", run.output)
        self.assertEqual(run.output.count("event 't' is refused"), 1)
        [(_, fields)] = run.events()
        self.assertEqual((fields["big"], fields["small"], fields["broken"]), (str(2**70), str(-2**63 - 1), "<unprintable Broken>"))
        self.assertEqual(0, self.run_python(program, LIFELINE_URL=None).returncode)

    def test_types_beyond_the_library_s_limit_are_off(self):
        run = self.run_python("""
            import lifeline
            for i in range(6_000):
                lifeline.EventType(f"{i:0250}", [("u32", "x", "")])(1)
            assert lifeline.stats()["refused"] > 0
        """, LIFELINE_URL="null:")
        self.assertEqual(0, run.returncode, run.output)

    def test_log_records_arrive_with_level_place_and_extra(self):
        run = self.run_well("""
            import logging, lifeline
            log = logging.getLogger("shop.cart")
            log.addHandler(lifeline.Handler())
            log.setLevel(logging.DEBUG)
            log.propagate = False
            log.warning("%d items", 3, extra={"user": "eve", "total": 9.5, "file": "x"})
            try:
                1 / 0
            except ZeroDivisionError:
                log.exception("failed")
        """)
        (warning, first), (error, second) = run.events()
        self.assertEqual((warning["name"], warning["level"], error["level"]), ("log.record", "warn", "error"))
        self.assertEqual((first["logger"], first["message"], first["line"]), ("shop.cart", "3 items", 7))
        self.assertEqual((first["user"], first["total"], first["file_"], first["file"]), ("eve", 9.5, "x", "<string>"))
        self.assertIn("ZeroDivisionError: division by zero", second["exception"])

    def test_many_threads_lose_nothing(self):
        run = self.run_well("""
            import threading, lifeline
            lifeline.init(policy="block")
            def work(thread):
                for i in range(2000):
                    lifeline.emit("t", thread=thread, i=i)
            threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """)
        seen = {(fields["thread"], fields["i"]) for fields in run.named("t")}
        self.assertEqual(len(seen), 16000)
        self.assertEqual(len(run.named("t")), 16000)

    def test_a_forked_child_is_an_emitter_of_its_own(self):
        run = self.run_well("""
            import os, lifeline
            lifeline.emit("before", pid=os.getpid())
            child = os.fork()
            lifeline.emit("after", pid=os.getpid())
            if child == 0:
                raise SystemExit
            assert os.waitpid(child, 0)[1] == 0
        """)
        self.assertEqual(len(run.named("before")), 1)
        self.assertEqual(len({fields["pid"] for fields in run.named("after")}), 2)
        self.assertEqual(len({batch["incarnation"] for batch in run.batches}), 2)

    def test_a_child_forked_while_a_thread_declares_types_can_declare_its_own(self):
        self.run_well("""
            import os, threading, lifeline
            over = threading.Event()
            def declare():
                i = 0
                while not over.is_set():
                    lifeline.emit(f"t{i % 5000}", x=1)
                    i += 1
            thread = threading.Thread(target=declare)
            thread.start()
            for i in range(30):
                child = os.fork()
                if child == 0:
                    lifeline.emit(f"child{i}", x=1)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            over.set()
            thread.join()
        """)

    def test_text_that_is_no_text_costs_no_event(self):
        run = self.run_well("""
            import lifeline
            lifeline.emit("t", half="a\\ud83db", name=b"a\\xffb".decode("utf-8", "surrogateescape"))
        """)
        self.assertEqual(run.named("t"), [{"half": "a?b", "name": "a\ufffdb"}])

    def test_multiprocessing_workers_deliver_before_they_end(self):
        run = self.run_well("""
            import multiprocessing, lifeline
            def work(i):
                lifeline.emit("work", i=i)
                lifeline.flush()
            if __name__ == "__main__":
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    pool.map(work, range(20))
        """)
        self.assertEqual({fields["i"] for fields in run.named("work")}, {str(i) for i in range(20)})

    def test_rules_apply_to_what_python_emits(self):
        run = self.run_well("""
            import lifeline
            for i in range(100):
                lifeline.emit("quiet", x=i)
                lifeline.emit("load", "info", x=float(i))
                lifeline.emit("some", x=i)
        """, LIFELINE_RESOLUTION="quiet off; load summary; some sample:10")
        self.assertEqual(len(run.named("quiet")), 0)
        self.assertEqual(len(run.named("load")), 0)
        self.assertEqual(len(run.named("some")), 10)
        [summary] = run.named("lifeline.summary")
        self.assertEqual((summary["type"], summary["count"], summary["mean"]), ("load", "100", 49.5))

    def test_init_takes_what_the_header_lists_and_the_counters_tell_what_came_of_it(self):
        run = self.run_well("""
            import lifeline
            lifeline.init(resolution="some sample:10; large full when x>90", never="secret", max_rate=7)
            for i in range(100):
                lifeline.emit("some", x=i)
                lifeline.emit("large", x=i)
                lifeline.emit("secret", x=i)
            assert lifeline.flush()
            counted = lifeline.stats()
            assert (counted["sampled_out"], counted["below_threshold"], counted["dropped_spool_full"]) == (90, 91, 0), counted
        """)
        self.assertEqual([len(run.named(name)) for name in ("some", "large", "secret")], [10, 9, 0])

    def test_without_a_url_nothing_happens(self):
        run = self.run_well("""
            import lifeline
            lifeline.emit("a", x=1)
            assert lifeline.flush() and lifeline.stats()["on"] == 0 and lifeline.stats()["emitted"] == 0
        """, LIFELINE_URL=None)
        self.assertEqual(run.batches, [])

    def test_counters_tell_what_was_emitted(self):
        self.run_well("""
            import lifeline
            for _ in range(5):
                lifeline.emit("a", x=1)
                lifeline.emit("some", x=1)
            assert lifeline.flush()
            assert lifeline.stats()["emitted"] == 6, lifeline.stats()
            assert lifeline.stats()["sampled_out"] == 4, lifeline.stats()
            assert lifeline.shutdown()
            lifeline.emit("a", x=1)
            assert lifeline.stats()["dropped_shutdown"] == 1, lifeline.stats()
        """, LIFELINE_RESOLUTION="some sample:5")

    def test_without_the_library_events_are_off_and_one_line_says_what_to_do(self):
        program = """
            import logging, lifeline
            T = lifeline.EventType("t", [("u32", "x", "")])
            T(1)
            lifeline.emit("a", x=1)
            logging.getLogger().addHandler(lifeline.Handler())
            logging.getLogger().error("a record")
            lifeline.init()
            assert lifeline.flush() and lifeline.shutdown() and lifeline.stats()["on"] == 0
        """
        for library in "/nonexistent/liblifeline.so.0", "libc.so.6":
            run = self.run_python(program, LIFELINE_LIBRARY=library)
            self.assertEqual(0, run.returncode, run.output)
            self.assertIn("install liblifeline, or set LIFELINE_LIBRARY", run.output)
        self.run_well("import lifeline; lifeline.emit('a')", LIFELINE_LIBRARY="/nonexistent/liblifeline.so.0", LIFELINE_URL=None)


class Example(Programs):
    def test_the_example_runs_and_its_events_arrive(self):
        run = self.run_well((PACKAGE.parent / "examples" / "python" / "backup.py").read_text())
        self.assertEqual([fields["ok"] for fields in run.named("backup.end")], [True])
        self.assertEqual([fields["message"] for fields in run.named("log.record")], ["backed up 3 files"])


if __name__ == "__main__":
    unittest.main()
