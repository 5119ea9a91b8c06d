"""The benchmarks' tables: what they judge, and that the pages in results/ say what was measured."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from benching.console import page as console_page  # noqa: E402
from benching.console.cases import ACTIVATION, FIGURES, SIZES, cases  # noqa: E402
from benching.figures.row import Row as ConsoleRow  # noqa: E402
from benching.console.service import quantile  # noqa: E402
from benching.emitter.__main__ import PARTS  # noqa: E402
from benching.emitter.bursts import CASES as BURSTS  # noqa: E402
from benching.emitter.programs import measure, measured_quietly  # noqa: E402
from benching.emitter.row import Case, Row, merged  # noqa: E402
from benching.emitter.summaries import trimmed_mean  # noqa: E402
from benching.emitter.sustained import check, destination, once  # noqa: E402
from benching.fileserver import measure as fileserver  # noqa: E402
from benching.fileserver.servers import IDLE, MODES, PRELOAD, lacking  # noqa: E402
from benching.jobs import row as jobs_row  # noqa: E402
from benching.jobs.__main__ import families  # noqa: E402
from benching.limit import at_least, at_most  # noqa: E402
from benching.processes import BIN  # noqa: E402
from benching.results import calipers as calipers_page  # noqa: E402
from benching.results import console as console_results  # noqa: E402
from benching.results import fileserver as fileserver_page  # noqa: E402
from benching.results.__main__ import pages  # noqa: E402
from benching.results.figures import summary  # noqa: E402
from benching.results.reasons import reason  # noqa: E402
from benching.results import transfers as transfers_page  # noqa: E402
from benching.scale.grows import fewest  # noqa: E402
from benching.suite import updated  # noqa: E402
from benching.transfers.__main__ import judge  # noqa: E402
from benching.transfers.answers import less, ours, papers_rule, truth  # noqa: E402
from benching.transfers.cells import MEASURED, Cell, matrix  # noqa: E402
from benching.transfers.programs import PROGRAMS  # noqa: E402
from benching.transfers.transfer import Run, written  # noqa: E402


def row(values, floors=(), limit=None, disturbed=0, lost=0):
    noise = {"foreign": 0.5 if disturbed else 0.0, "stolen": 0, "waited": 0, "disturbed": disturbed}
    return Row(Case("a.row", "what", limit=limit), list(values), list(floors), lost, noise)


class Scale(unittest.TestCase):
    def test_the_jobs_of_either_broker_are_counted(self):
        of = 'lifeline_events_total{{task="{}"}} {}\n'.format
        self.assertEqual(fewest(of("summarise", 60) + of("ledger", 40) + of("archive", 50)), 40)
        self.assertEqual(fewest(of("summarise+ledger-0", 20) + of("summarise+ledger-15", 30) + of("archive", 60)), 50)
        self.assertEqual(fewest(of("summarise+ledger-0", 20)), 0)


class Growth(unittest.TestCase):
    """Why a row of one of several sizes misses its aim."""

    @staticmethod
    def size(name, median, events, commit="new"):
        return {"name": name, "median": median, "events": events, "unit": "us", "commit": commit}

    def test_what_each_further_one_takes_leaves_out_what_is_fixed(self):
        rows = [self.size("scale.emitters.nats.cpu.1k", 60, 1_000), self.size("scale.emitters.nats.cpu.10k", 15, 10_000)]
        self.assertEqual(reason(rows[0], {"rows": rows}), "from 1,000 to 10,000 emitters each further batch takes 10.00 us")

    def test_rows_of_different_code_are_not_compared(self):
        rows = [self.size("scale.emitters.nats.cpu.1k", 60, 1_000, "old"), self.size("scale.emitters.nats.cpu.10k", 15, 10_000)]
        self.assertEqual(reason(rows[1], {"rows": rows}), "")


class Rows(unittest.TestCase):
    def test_a_ratio_is_that_of_the_medians(self):
        self.assertAlmostEqual(row([10, 11, 90], [10, 10, 70]).ratio, 1.1)

    def test_a_limit_that_is_just_reached_is_met(self):
        self.assertEqual(row([11] * 3, [10], at_most("ratio", 1.1)).verdict, "met")
        self.assertEqual(row([0.85] * 3, limit=at_least("value", 0.85)).verdict, "met")

    def test_a_missed_limit_says_by_how_much(self):
        self.assertEqual(row([15] * 3, [10], at_most("ratio", 1.2)).verdict, "missed by 25%")
        self.assertEqual(row([0.5] * 3, limit=at_least("value", 0.85)).verdict, "missed by 70%")

    def test_what_its_repetitions_cannot_tell_is_not_judged(self):
        self.assertEqual(row([10, 11], [10], at_most("ratio", 1.2)).verdict, "no verdict: 2 of 3 repetitions")
        self.assertEqual(row([8, 10, 14], [10], at_most("ratio", 1.2)).verdict, "no verdict: spread 48%: rerun on an idle machine")
        self.assertEqual(row([14, 16, 24], [10], at_most("ratio", 1.2)).verdict, "missed by 33%")  # each of them misses it
        document = row([10], [10], at_most("ratio", 1.2)).document()
        self.assertEqual((document["unjudged"], "met" in document), ("1 of 3 repetitions", False))
        weight = Row(Case("bytes.raw", "weight", unit="B", limit=at_most("value", 16.5), exact=True), [16])
        self.assertEqual(weight.verdict, "met")

    def test_a_row_of_times_names_them_nanoseconds_and_others_do_not(self):
        self.assertIn("ns_median", row([1]).document())
        weight = Row(Case("bytes.raw", "weight", unit="B"), [16]).document()
        self.assertIn("value_median", weight)
        self.assertNotIn("ns_median", weight)

    def test_repetitions_of_one_row_are_one_sample_and_their_losses_add_up(self):
        both = merged(Case("a.row", "what"), [row([1, 2], [1, 1], lost=3), row([9], [1], lost=4)])
        self.assertEqual((both.median, both.lost), (2, 7))

    def test_disturbed_repetitions_are_measured_again_and_left_out(self):
        answers = iter([row([99], disturbed=1), row([1]), row([98], disturbed=1), row([2])])
        self.assertEqual([found.values[0] for found in measured_quietly(Case("a", "b"), 2, lambda: next(answers))], [1, 2])

    def test_on_a_machine_that_is_never_quiet_all_repetitions_count(self):
        self.assertEqual(len(measured_quietly(Case("a", "b"), 2, lambda: row([1], disturbed=1))), 4)

    def test_no_two_rows_have_the_same_name(self):
        names = [case.name for part in PARTS for case in part.CASES]
        self.assertEqual(len(names), len(set(names)))


class JobsRows(unittest.TestCase):
    def row(self, values, baselines, limits=(), any_suffices=False, **more):
        return jobs_row.Row(jobs_row.Case("a.row", "what", limits=limits, any_suffices=any_suffices), values, baselines, **more)

    def test_repetitions_are_compared_in_pairs(self):
        self.assertAlmostEqual(self.row([10, 20, 40], {"b": [10, 10, 10]}).ratio(), 2)
        self.assertAlmostEqual(self.row([10, 20, 40], {"b": [5, 20, 40]}).ratio(), 1)

    def test_a_row_may_be_held_to_several_limits(self):
        limits = (at_least("per_s", 15), at_least("ratio:c", 3), at_most("restart_s", 1))
        found = self.row([20] * 3, {"b": [1], "c": [10]}, limits, details={"restart_s": 0.5})
        self.assertEqual(found.verdict, "missed by 50%")
        self.assertEqual(self.row([30] * 3, {"b": [1], "c": [10]}, limits, details={"restart_s": 0.5}).verdict, "met")

    def test_one_of_several_limits_may_suffice(self):
        limits = (at_least("per_s", 100), at_least("ratio", 0.5))
        self.assertEqual(self.row([6] * 3, {"b": [10]}, limits, any_suffices=True).verdict, "met")
        self.assertEqual(self.row([4] * 3, {"b": [10]}, limits, any_suffices=True).verdict, "missed by 25%")

    def test_a_row_that_measured_much_set_up_is_not_judged(self):
        limits = (at_least("per_s", 15),)
        self.assertEqual(self.row([10] * 3, {}, limits, set_up_share=0.1).verdict, "missed by 50%")
        short = self.row([10] * 3, {}, limits, set_up_share=0.42)
        self.assertEqual(short.verdict, "no verdict: set-up 42% of the measured time: measure longer, without --quick")
        self.assertEqual((short.document()["per_s_median"], short.document()["set_up_share"]), (10, 0.42))
        self.assertEqual(self.row([10] * 3, {}, set_up_share=0.42).verdict, "")  # nothing to judge

    def test_the_spread_of_eleven_repetitions_leaves_out_the_lowest_and_the_highest(self):
        self.assertAlmostEqual(self.row([1, *range(95, 104), 900], {}).document()["spread"], 0.081, 3)
        self.assertEqual(self.row([7], {}).document()["spread"], 0)

    def test_what_is_compared_may_be_another_figure_than_the_rate(self):
        found = self.row([10], {"b": [1]}, compared=[4], compared_is="per_core_s").document()
        self.assertEqual((found["per_s_median"], found["ratio"], found["baselines"][0]["per_core_s_median"]), (10, 4, 1))

    def test_no_two_rows_have_the_same_name(self):
        names = [case.name for family in families() for case in family.CASES]
        self.assertEqual(len(names), len(set(names)))

    def test_rows_measured_again_take_the_places_of_the_old_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "jobs.json"
            path.write_text(json.dumps({"rows": [{"name": "a", "v": 1}, {"name": "b", "v": 1}]}))
            self.assertEqual(updated(path, {"rows": [{"name": "b", "v": 2}, {"name": "c", "v": 2}]})["rows"],
                             [{"name": "a", "v": 1}, {"name": "b", "v": 2}, {"name": "c", "v": 2}])


class ConsoleRows(unittest.TestCase):
    CASES = {case.figure: case.of_size("10m") for case in FIGURES}

    def test_an_aim_is_missed_if_one_run_misses_it(self):
        self.assertEqual(ConsoleRow(self.CASES["page.step.max"], [100, 120, 300], 1).verdict, "missed by 50%")
        self.assertEqual(ConsoleRow(self.CASES["page.drag"], [60, 40, 10], 1).verdict, "missed by 100%")
        self.assertEqual(ConsoleRow(self.CASES["page.drag"], [60, 40, 20], 1).verdict, "met")

    def test_a_row_shows_all_runs(self):
        document = ConsoleRow(self.CASES["page.first"], [900, 1100, 700], 5).document()
        self.assertEqual((document["values"], document["median"], document["min"], document["max"]), ([900, 1100, 700], 900, 700, 1100))
        self.assertEqual((document["name"], document["met"], document["missed_by"]), ("page.first.10m", False, 0.1))

    def test_a_quantile_is_one_of_the_values(self):
        self.assertEqual([quantile(range(100, 0, -1), share) for share in (0, 0.5, 0.99, 1)], [1, 50, 99, 100])

    def test_steps_are_told_apart_by_their_span(self):
        self.assertEqual([console_page.scale(span) for span in (4e12, 61e9, 59e9, 2e6, 1e3)],
                         ["hours", "minutes", "seconds", "milliseconds", "microseconds"])

    def test_no_two_rows_have_the_same_name(self):
        names = [case.name for case in cases(SIZES)]
        self.assertEqual(len(names), len(set(names)))

    def test_rows_with_a_broker_have_no_size_and_are_judged_as_others(self):
        document = ConsoleRow(ACTIVATION[1], [1.2, 1.8, 1.4], 1000).document()
        self.assertEqual((document["name"], document["met"], document["missed_by"]), ("activation.first_event.p99", False, 0.2))

    def test_the_page_explains_rows_with_a_broker_only_if_there_are_such(self):
        measured = json.loads((ROOT / "results/bench/console.json").read_text())
        archives = [row for row in measured["rows"] if not row["name"].startswith(("tail.", "activation."))]
        self.assertNotIn("/api/v1/activations", console_results.page(measured | {"rows": archives}))
        with_broker = console_results.page(measured | {"rows": [*archives, ConsoleRow(ACTIVATION[1], [1.2], 1000).document()]})
        self.assertIn("/api/v1/activations", with_broker)
        self.assertIn("| `activation.first_event.p99` |", with_broker)


class ReadBack(unittest.TestCase):
    WHOLE = {"events": 8, "sum": 12, "emitted": 8, "dropped": 0, "each_batch_once": True, "final": True}

    def test_all_serials_of_all_threads_are_a_whole(self):
        check(self.WHOLE, Case("a", "b"), 8, 2)

    def test_one_event_twice_in_place_of_another_is_found(self):
        with self.assertRaisesRegex(RuntimeError, "sum"):
            check({**self.WHOLE, "sum": 13}, Case("a", "b"), 8, 2)


@unittest.skipUnless((BIN / "bench-sustained").exists(), "the C parts are not built: scripts/build c")
class Programs(unittest.TestCase):
    def test_two_threads_events_into_a_file_are_read_back_whole(self):
        with destination("file") as (url, kin):
            found = once(Case("a.row", "what"), "file", url, kin, 100_000, 2, {})
        self.assertEqual((found.details["read_back"], found.lost), (100_000, 0))
        self.assertGreater(found.floor, 0)

    def test_a_burst_has_a_floor_beside_it_in_each_repetition(self):
        found = measure(BURSTS[0], "bench-emit", "--events", 1000, "--bursts", 2, "--repetitions", 3)
        self.assertEqual(len(found.values), len(found.floors))
        self.assertEqual(found.details["emitted"] % 1000, 0)


    def test_calipers_over_an_array_are_compared_with_the_same_loop(self):
        found = measure(Case("caliper.array", "what"), "bench-caliper", "--array", 64, "--operations", 10_000, "--repetitions", 3)
        self.assertEqual(len(found.values), len(found.floors))
        self.assertGreater(min(found.floors), 0)


class Calipers(unittest.TestCase):
    def test_a_trimmed_mean_leaves_out_both_ends(self):
        self.assertEqual(trimmed_mean([1000, *[5] * 7, 6, -900]), (5 * 7 + 6) / 8)

    def test_a_share_is_that_of_two_calls_in_the_time_of_a_block(self):
        self.assertAlmostEqual(calipers_page.share(103, 10), 0.00098, 5)
        self.assertAlmostEqual(calipers_page.share(103, 1000), 0.098, 3)


class FileServer(unittest.TestCase):
    @staticmethod
    def document(with_calipers):
        value = {"mb_per_s": 100, "cpu_ns_per_byte": 1, "others": 0}
        values = {mode: [dict(value) for _ in with_calipers] for mode in MODES}
        values["calipers"] = [value | {"mb_per_s": rate} for rate in with_calipers]
        return {"cells": [{"server": "nginx", "clients": 1, "values": values}]}

    def test_an_aim_is_met_missed_or_not_shown_by_the_whole_interval(self):
        for rates, said in (([99.5, 99, 99.1, 99.2], "2 of 2 met"), ([90, 91, 92, 93], "1 of 2 met, 1 missed"),
                            ([90, 99, 110, 95, 99], "1 of 2 met, 1 without a verdict")):
            self.assertEqual(said, fileserver_page.count(self.document(rates)))

    def test_less_throughput_and_more_cpu_are_both_positive(self):
        values = {"without": [{"mb_per_s": 100, "cpu_ns_per_byte": 1}], "calipers": [{"mb_per_s": 90, "cpu_ns_per_byte": 1.1}]}
        for figure in fileserver_page.FIGURES:
            self.assertAlmostEqual(fileserver_page.costs(values, "calipers", figure)[0], 0.1)


@unittest.skipIf(lacking() or not PRELOAD.exists(), lacking() or "the C parts are not built: scripts/build c")
class Servers(unittest.TestCase):
    tags = ("system",)

    def test_every_server_is_measured_in_every_mode_and_one_that_takes_too_long_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "data").mkdir()
            (folder / "data/file").write_bytes(bytes(fileserver.SIZE))
            (folder / "data").chmod(0o555)
            for server in IDLE:
                for mode in MODES:
                    with self.subTest(server=server, mode=mode):
                        found = fileserver.measure(server, 2, mode, 2, folder)
                        self.assertGreater(found["mb_per_s"], 0)
                        self.assertGreater(found["cpu_ns_per_byte"], 0)
            with self.assertRaisesRegex(RuntimeError, "nginx, clients: 1, mode: off: .*within 0 s"):
                fileserver.measure("nginx", 1, "off", 1000, folder, limit=0)


class Transfers(unittest.TestCase):
    LOSSY = "100 ms / 0.01 %"

    def cell(self, resources, rates, seed=1, program="web", condition=LOSSY, answers="network"):
        phases = [{"throughput": rate, "ours": {"answer": answers}, "paper_rule": "none"} for rate in rates]
        return {"program": program, "resources": resources, "streams": 1, "condition": condition, "seed": seed, "phases": phases,
                "noise": 0, "link": [{"latest_us": 0}], "changed": 0}

    def truths(self, *cells):
        return [phase.get("truth") for phase in judge(list(cells))[-1]["phases"]]

    def test_the_slowest_limits_and_what_is_within_a_fifth_of_it(self):
        self.assertEqual(truth({"a": 4, "b": 8, "c": 20}), ["a"])
        self.assertEqual(truth({"a": 4, "b": 5, "c": 5.1}), ["a", "b"])

    def test_a_mean_is_less_if_chance_hardly_explains_it(self):
        self.assertLess(less([1, 1.1, 0.9, 1], [2, 2.1, 1.9, 2]), 0.001)
        self.assertGreater(less([2, 2.1, 1.9, 2], [1, 1.1, 0.9, 1]), 0.999)
        self.assertGreater(less([1, 5, 3, 2], [1, 4, 3, 4]), 0.1)
        self.assertEqual((less([1, 1], [2, 2]), less([1, 1], [1, 1])), (0, 1))

    def test_the_papers_rule_names_the_lowest_if_it_differs_from_all_others(self):
        slow, fast, alike = [1, 1.1, 0.9, 1], [9, 8, 9, 8], [1, 1.2, 0.9, 1.1]
        self.assertEqual(papers_rule({"network": slow, "disk-read": fast, "disk-write": fast}), "network")
        self.assertEqual(papers_rule({"network": slow, "disk-read": fast, "disk-write": alike}), "none")
        self.assertEqual(papers_rule({"network": slow, "disk-read": [9]}), "none")

    def test_our_answer_is_the_newest_alert_that_is_raised(self):
        alerts = [{"state": "on", "subject": "network", "reason": "SLOWEST", "chance": 0.1, "at_ns": 5},
                  {"state": "on", "subject": "disk-read", "reason": "SLOWEST", "chance": 0.2, "at_ns": 4},
                  {"state": "off", "subject": "disk-write", "reason": "SLOWEST", "chance": 0, "at_ns": 6}]
        self.assertEqual(ours(alerts), {"answer": "network", "reason": "SLOWEST", "chance": 0.1, "at_ns": 5})
        self.assertEqual(ours(alerts[2:]), {"answer": "none"})

    def test_the_truth_is_the_slowest_of_the_disks_and_of_what_the_same_network_carried(self):
        network = self.cell("memory to memory", (19e6, 3e6))
        self.assertEqual(self.truths(network), [["network"], ["network"]])
        self.assertEqual(self.truths(network, self.cell("disk to disk", (4e6, 2.9e6))), [["disk-read"], ["network"]])
        self.assertEqual(self.truths(network, self.cell("memory to disk", (8e6, 1e6))), [["disk-write"], []])  # something else
        self.assertEqual(self.truths(self.cell("memory to disk", (8e6, 3e6))), [None, None])

    def test_where_runs_with_other_losses_disagree_each_may_be_right(self):
        runs = [self.cell("memory to memory", (19e6, rate), seed) for seed, rate in ((1, 12e6), (2, 5e6))]
        self.assertEqual(self.truths(*runs, self.cell("memory to disk", (8e6, 7e6))), [["disk-write"], ["disk-write", "network"]])
        self.assertEqual(runs[0]["phases"][1]["network"], [5e6, 12e6])

    def test_the_share_of_right_answers_is_given_without_memory_to_memory_too(self):
        cells = judge([self.cell("memory to memory", (19e6, 3e6)), self.cell("memory to memory", (19e6, 3e6), seed=2),
                       self.cell("disk to disk", (4e6, 3e6))])
        found = transfers_page.Matrix({"cells": cells})
        self.assertEqual((transfers_page.right(found, "ours"), transfers_page.right(found, "ours", False)), ("3 of 4", "1 of 2"))

    def test_before_the_loss_a_cell_is_the_papers_without_loss(self):
        cell = Cell("remote-copy-udt", "memory to disk", 4, self.LOSSY)
        self.assertEqual([cell.paper("udt", phase) for phase in (0, 1)], ["network", "disk-write"])
        self.assertIn("| 100 ms / 0 | 8.0 |", next(transfers_page.row(self.cell("memory to disk", (8e6, 3e6)))))

    def test_only_what_loss_decides_is_run_several_times(self):
        cells = matrix(PROGRAMS)
        self.assertEqual(len({cell.name for cell in cells}), len(cells))
        self.assertEqual({(cell.resources, cell.condition) for cell in cells if cell.seed > 1}, {("memory to memory", self.LOSSY)})
        self.assertEqual({cell.condition for cell in cells}, set(MEASURED))

    def test_throughput_is_that_of_what_lies_within(self):
        run = Run(progress=[(1_000_000_000, 5), (2_000_000_000, 10), (4_000_000_000, 40), (9_000_000_000, 41)])
        self.assertAlmostEqual(run.throughput(2_000_000_000, 5_000_000_000), 15)

    def test_holes_of_files_are_not_counted_as_written(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, open(Path(folder) / "file", "wb") as file:
            file.truncate(1 << 30)
            file.write(bytes(1 << 20))
            file.flush()
            self.assertTrue(1 << 20 <= written(folder) < 1 << 24)


class Pages(unittest.TestCase):
    def test_rows_without_a_verdict_count_among_those_with_an_aim(self):
        rows = [{"met": True}, {"met": False}, {"unjudged": "spread 30%"}, {}]
        self.assertEqual("1 of 3 met, 1 missed, 1 without a verdict", summary({"rows": rows}))

    def test_results_hold_what_make_results_would_write(self):
        bench = {path.stem: json.loads(path.read_text()) for path in (ROOT / "results/bench").glob("*.json")}
        for name, text in pages(bench).items():
            self.assertEqual((ROOT / "results" / name).read_text(), text, f"{name}: run make results")


if __name__ == "__main__":
    unittest.main()
