#!/usr/bin/env python3
"""Tests guard.sh against builds that are broken on purpose, one thing at a time."""

import json

from perf_testing import BLOCKREPLAY, FIXTURES, SENDS, SEND_HEIGHT, PerfTest, main

# Runs the real program and then changes what it wrote, as a build would that computes something else.
EDIT_RESULTS = """\
import json
if '--results' in arguments:
    path = arguments[arguments.index('--results') + 1]
    lines = [json.loads(line) for line in open(path)]
    for line in lines:
        if line['height'] == {height} and line['phase'] == 'tx':
            {edit}
    open(path, 'w').writelines(json.dumps(line, separators=(',', ':')) + '\\n' for line in lines)
"""
EDIT_STATE = """\
import json
if arguments[0] == 'export':
    path = arguments[arguments.index('-o') + 1]
    lines = open(path).read().splitlines(keepends=True)
    {edit}
    open(path, 'w').writelines(lines)
"""


class GuardTest(PerfTest):
    def guard(self, candidate, *arguments, expect: int, recording=SENDS, base=BLOCKREPLAY):
        done = self.script("guard.sh", base, candidate, "--no-fixtures", recording, "--json", self.dir / "guard.json",
                           *arguments, expect=expect)
        self.assert_nothing_left()
        return done

    def first(self) -> dict:
        return self.load(self.dir / "guard.json")["recordings"][0]["first_difference"]

    def assert_only(self, done, *names: str) -> None:
        """These checks differ, and no other."""
        checks = self.load(self.dir / "guard.json")["recordings"][0]["checks"]
        self.assertEqual({name for name, text in checks.items() if "DIFFER" in text}, set(names), done.stdout)


class Identical(GuardTest):
    def test_the_same_build(self):
        done = self.guard(BLOCKREPLAY, expect=0)
        finding = self.load(self.dir / "guard.json")["recordings"][0]
        manifest = json.loads((SENDS / "manifest.json").read_text())
        self.assertEqual(finding["checks"]["app hashes"], f"{manifest['blocks']} equal")
        self.assertEqual(finding["computed"]["gas"]["equal"], manifest["notes"]["txs"])
        self.assertGreater(finding["computed"]["events"]["equal"], manifest["notes"]["txs"])
        self.assertRegex(done.stdout.splitlines()[-1], "^guard: identical: 1 recordings, ")

    def test_what_is_not_computed_is_listed_and_never_equal(self):
        done = self.guard(BLOCKREPLAY, "--exec", "apply", expect=0)
        finding = self.load(self.dir / "guard.json")["recordings"][0]
        self.assertEqual({finding["checks"][name] for name in ("events", "gas", "codes")}, {"not computed"})
        self.assertIn("no native execution by base and candidate", done.stdout)
        self.assertIn("answers of queries", done.stdout)

    def test_a_phase_that_one_side_does_not_execute(self):
        edit = "line.clear() or line.update(height=%d, phase='tx', index=0, kind='/types.MsgSend', native=False)" % SEND_HEIGHT
        candidate = self.wrapper("candidate", after=EDIT_RESULTS.format(height=SEND_HEIGHT, edit=edit))
        done = self.guard(candidate, expect=0)
        self.assertEqual(self.load(self.dir / "guard.json")["recordings"][0]["computed"]["gas"]["only_base"], 1)
        self.assertIn("gas: 0 phases by neither side, 1 by the base only", done.stdout)

    def test_another_chain(self):
        done = self.guard(BLOCKREPLAY, expect=0, recording=FIXTURES / "gno-sends-300")
        self.assertIn("app hash", done.stdout)


class Broken(GuardTest):
    def test_one_key(self):
        falsified = self.falsify(SENDS, "value", SEND_HEIGHT, "bank")
        done = self.guard(self.on_other_recording("candidate", SENDS, falsified), expect=2)
        first = self.first()
        self.assertEqual((first["what"], first["height"], first["store"]), ("key", SEND_HEIGHT, "bank"))
        self.assertRegex(first["key"], "^0x02")
        self.assertNotEqual(first["base"], first["candidate"])
        # One bit of the first byte, so the rest is the same.
        self.assertEqual(first["base"][2:], first["candidate"][2:])
        self.assertEqual(int(first["base"][:2], 16) ^ int(first["candidate"][:2], 16), 1)
        self.assertIn("guard: DIFFERENT: key of ", done.stdout)
        self.assertIn(f"height {SEND_HEIGHT}", done.stdout.splitlines()[-1])

    def test_a_missing_write(self):
        falsified = self.falsify(SENDS, "drop-write", SEND_HEIGHT, "bank")
        self.guard(self.on_other_recording("candidate", SENDS, falsified), expect=2)
        self.assertEqual((self.first()["height"], self.first()["store"]), (SEND_HEIGHT, "bank"))

    def test_a_write_that_became_a_delete(self):
        falsified = self.falsify(SENDS, "set-to-delete", SEND_HEIGHT, "bank")
        self.guard(self.on_other_recording("candidate", SENDS, falsified), expect=2)
        first = self.first()
        self.assertEqual((first["what"], first["height"], first["store"]), ("key", SEND_HEIGHT, "bank"))
        self.assertTrue(first["candidate"].startswith("(absent)"))

    def test_one_key_of_the_state_only(self):
        edit = "e = json.loads(lines[5]); e['value'] = '00' + e['value'][2:]; lines[5] = json.dumps(e) + '\\n'"
        done = self.guard(self.wrapper("candidate", after=EDIT_STATE.format(edit=edit)), expect=2)
        self.assert_only(done, "state")
        self.assertTrue(self.first()["candidate"].startswith("00"))

    def test_one_key_less_in_the_state(self):
        done = self.guard(self.wrapper("candidate", after=EDIT_STATE.format(edit="del lines[5]")), expect=2)
        self.assert_only(done, "state")
        self.assertEqual(self.first()["candidate"], "(absent)")

    def test_one_unit_of_gas(self):
        candidate = self.wrapper("candidate", after=EDIT_RESULTS.format(height=SEND_HEIGHT, edit="line['gas_used'] += 1"))
        done = self.guard(candidate, expect=2)
        self.assert_only(done, "gas")
        first = self.first()
        self.assertEqual((first["what"], first["height"]), ("gas used", SEND_HEIGHT))
        self.assertEqual(int(first["candidate"]), int(first["base"]) + 1)
        self.assertIn("tx 0 (/types.MsgSend)", done.stdout.splitlines()[-1])

    def test_one_event(self):
        for edit, what in (("line['events'][2]['attributes'][0][1] += 'x'", "event 2 (transfer), attribute 0"),
                           ("del line['events'][-1]", "event "), ("line['events'].reverse()", "event 0"),
                           ("line['events'][1]['type'] = 'coins'", "event 1")):
            with self.subTest(edit=edit):
                done = self.guard(self.wrapper("candidate", after=EDIT_RESULTS.format(height=SEND_HEIGHT, edit=edit)), expect=2)
                self.assert_only(done, "events")
                self.assertTrue(self.first()["what"].startswith(what), self.first())
                self.assertEqual(self.first()["height"], SEND_HEIGHT)

    def test_one_code(self):
        candidate = self.wrapper("candidate", after=EDIT_RESULTS.format(height=SEND_HEIGHT, edit="line['code'] = 5"))
        self.assert_only(self.guard(candidate, expect=2), "codes")
        self.assertEqual((self.first()["base"], self.first()["candidate"]), ("0", "5"))

    def test_a_base_that_is_broken_itself_is_an_error(self):
        falsified = self.falsify(SENDS, "value", SEND_HEIGHT, "bank")
        done = self.guard(BLOCKREPLAY, expect=1, base=self.on_other_recording("base", SENDS, falsified))
        self.assertIn("the base does not reproduce it", done.stderr)

    def test_a_candidate_that_crashes_is_an_error(self):
        candidate = self.wrapper("candidate", before="sys.exit(7)")
        self.assertIn("status 7", self.guard(candidate, expect=1).stderr)


class Usage(GuardTest):
    def test_usage(self):
        self.assertIn("not computed", self.script("guard.sh", "--help").stdout)
        self.script("guard.sh", BLOCKREPLAY, expect=1)
        self.script("guard.sh", BLOCKREPLAY, "/nothing", expect=1)
        self.script("guard.sh", BLOCKREPLAY, BLOCKREPLAY, "--no-fixtures", self.dir / "tmp", expect=1)
        for option, value in (("--jobs", "0"), ("--json", "/nothing/there/x.json")):
            self.assertIn(option, self.script("guard.sh", BLOCKREPLAY, BLOCKREPLAY, option, value, expect=1).stderr)


if __name__ == "__main__":
    main()
