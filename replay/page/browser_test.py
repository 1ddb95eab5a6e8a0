#!/usr/bin/env python3
"""Opens pages of real runs in headless Chromium: drawn, no errors, numbers equal to the JSON, usable by keyboard.

usage: browser_test.py BLOCKREPLAY SOURCE_DIR [unittest arguments]

Ends with 77 (skipped) where Chromium, its driver or Selenium are not installed. BLOCKREPLAY_SCREENSHOTS=DIR
keeps pictures.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

BLOCKREPLAY, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
RECORDING = os.path.join(SOURCE, "fixtures", "thor-churn")
NODE = os.path.join(SOURCE, "replay", "page", "testdata", "testhost")
SCREENSHOTS = os.environ.get("BLOCKREPLAY_SCREENSHOTS")

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    webdriver = None

FIGURES = {
    "name": "a node", "blocks": 560, "wall_s": 100.5, "block_ms": {"p50": 12.5, "p99": 80.25},
    "phase_ms": {"deliver_tx": 40000, "hash": 20000, "commit": 30000}, "cpu_s": {"process": 180.75},
    "peak_rss_bytes": 4_000_000_000, "note": "<b>text</b> is left out",
}


def value_at(report: Any, path: str) -> Any:
    for key in path.split("/"):
        report = report[key]
    return report


class ThirdParty(unittest.TestCase):
    def test_checksums(self) -> None:
        folder = os.path.join(SOURCE, "third_party")
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            rows = re.findall(r"`([\w./-]+)` \| `([0-9a-f]{64})`", file.read())
        listed = {}
        for name, digest in rows:
            with open(os.path.join(folder, name), "rb") as bundle:
                self.assertEqual(hashlib.sha256(bundle.read()).hexdigest(), digest, name)
            listed[name] = digest
            self.assertTrue(os.path.exists(os.path.join(folder, os.path.dirname(name), "LICENSE")))
        there = {os.path.relpath(os.path.join(path, name), folder)
                 for path, _, names in os.walk(folder) for name in names
                 if name.endswith((".js", ".css"))}
        self.assertEqual(set(listed), there)


class Pages(unittest.TestCase):
    dir: str
    driver: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.dir = tempfile.mkdtemp(prefix="blockreplay-page-test-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        for name, options in (("one", ["--exec", "verify"]), ("two", ["--threads", "1"])):
            args = [BLOCKREPLAY, "run", RECORDING, "--to", "170", "--quiet", *options]
            for option, suffix in (("--report", ".json"), ("--csv", ".csv"), ("--html", ".html"),
                                   ("--cpu-profile", ".cpu.pb.gz"),
                                   ("--heap-profile", ".heap.pb.gz")):
                args += [option, cls.path(name + suffix)]
            done = subprocess.run(args, capture_output=True, text=True, check=False)
            if "without tcmalloc" in done.stderr:
                done = subprocess.run(args[:-2], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
        with open(cls.path("figures.json"), "w", encoding="utf-8") as file:
            json.dump(FIGURES, file)
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                         "--window-size=1400,1000", f"--user-data-dir={cls.path('browser')}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.addClassCleanup(cls.driver.quit)

    @classmethod
    def path(cls, name: str) -> str:
        return os.path.join(cls.dir, name)

    def report(self, *args: str, expect: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([BLOCKREPLAY, "report", *args], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def json_of(self, name: str) -> Any:
        with open(self.path(name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def open(self, name: str, scheme: str = "light") -> None:
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get("file://" + self.path(name))
        self.assert_clean()

    def script(self, text: str, *args: Any) -> Any:
        return self.driver.execute_script("return " + text, *args)

    def elements(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def assert_clean(self) -> None:
        """Drawn to its end, nothing in the console, nothing fetched."""
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertEqual(self.script("document.documentElement.dataset.ready"), "true")
        self.assertEqual(self.script("performance.getEntriesByType('resource').map((e) => e.name)"
                                     ".filter((n) => !n.startsWith('data:'))"), [])

    def assert_canvases_drawn(self, at_least: int) -> None:
        drawn = self.script("""[...document.querySelectorAll('canvas')].map((canvas) => {
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const colors = new Set();
            for (let i = 0; i < pixels.length; i += 4) {
              if (pixels[i + 3] > 200) colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
            }
            return colors.size; })""")
        self.assertGreaterEqual(len(drawn), at_least)
        self.assertGreater(min(drawn), 3)

    def assert_figures(self, names: list[str]) -> None:
        """What stands in the table of figures is what stands in the reports."""
        reports = [self.json_of(name) for name in names]
        cells = self.script("[...document.querySelectorAll('[data-figure]')].map("
                            "(e) => [e.dataset.figure, e.dataset.value, e.textContent])")
        paths = [cell for cell in cells if re.fullmatch(r"[a-z0-9_/]+", cell[0])]
        self.assertGreater(len(paths), 15 * len(names))
        for index, (path, value, text) in enumerate(paths):
            expected = value_at(reports[index % len(names)], path)
            if expected is None:
                self.assertEqual((value, text), ("", "–"), path)
                continue
            self.assertEqual(float(value), expected, path)
            number = float(re.sub("[^0-9.]", "", text.split(" ")[0]))
            unit = text.split(" ")[1] if " " in text else ""
            scale = {"kB": 1e3, "MB": 1e6, "GB": 1e9}.get(unit, 1)
            if unit == "s" and "_ms" in path:
                scale = 1e3
            self.assertAlmostEqual(number * scale, expected, delta=0.006 * abs(expected) + 0.5e-6)

    def screenshot(self, name: str) -> None:
        if not SCREENSHOTS:
            return
        os.makedirs(SCREENSHOTS, exist_ok=True)
        height = self.script("document.documentElement.scrollHeight")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 1400, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.save_screenshot(os.path.join(SCREENSHOTS, name + ".png"))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_one_run(self) -> None:
        for scheme in ("light", "dark"):
            with self.subTest(scheme=scheme):
                self.open("one.html", scheme)
                self.assertEqual(self.script("document.documentElement.dataset.theme"), scheme)
                self.assert_canvases_drawn(7)
                self.assert_figures(["one"])
                self.screenshot(f"one-{scheme}")
        report = self.json_of("one")
        slow = self.elements("#slowest tbody tr")
        self.assertEqual(len(slow), 12)
        self.assertEqual(slow[0].find_elements(By.TAG_NAME, "td")[0].text.replace(",", ""),
                         str(report["slowest_blocks"][0]["height"]))
        stores = {row.find_elements(By.TAG_NAME, "td")[0].text:
                  int(row.find_elements(By.TAG_NAME, "td")[1].get_attribute("data-value"))
                  for row in self.elements("#stores tbody tr")}
        self.assertEqual(stores, {name: store["sets"] for name, store in report["stores"].items()})
        self.assertGreater(len(self.elements("#messages tbody tr")), 3)
        self.assertEqual(self.elements("#beside"), [])

    def test_the_page_of_run_is_that_of_report(self) -> None:
        self.report(self.path("one.json"), "--html", self.path("again.html"))
        data = []
        for name in ("one.html", "again.html"):
            self.open(name)
            data.append(self.script("JSON.parse(document.getElementById('data').textContent)")["runs"][0])
        self.assertEqual({**data[0], "name": ""}, {**data[1], "name": ""})

    def test_two_runs_and_a_node(self) -> None:
        self.report(self.path("one.json"), self.path("two.json"), "--html", self.path("pair.html"),
                    "--beside", self.path("figures.json"), "--beside", f"{NODE}.cpu.pb.gz",
                    "--beside", f"{NODE}.heap.pb.gz")
        for scheme in ("light", "dark"):
            self.open("pair.html", scheme)
            self.assert_canvases_drawn(14)
            self.assert_figures(["one", "two"])
            self.screenshot(f"pair-{scheme}")
        self.assertEqual(self.elements(".badge.bad"), [])
        text = self.driver.find_element(By.ID, "beside").text
        for part in ("a node", "100.5 s", "12.50 ms", "4.00 GB", "deliver tx", "Allocated by phase"):
            self.assertIn(part, text)
        # Every phase stands in a row: shares of ours and of the node's add up.
        for rows in (self.script("[...arguments[0].querySelectorAll('tbody tr')].map((row) => [...row.cells].map("
                                 "(cell) => cell.textContent))", table) for table in self.elements("#beside table")[:2]):
            self.assertEqual(rows[-1][0], "all")
            columns = [i for i, cell in enumerate(rows[-1]) if cell == "100 %"]
            self.assertEqual(len(columns), 2)
            for i in columns:
                self.assertAlmostEqual(sum(float(row[i].removesuffix(" %")) for row in rows[:-1]), 100, delta=0.2)
        Select(self.driver.find_element(By.ID, "flame-source")).select_by_visible_text("testhost.cpu")
        Select(self.driver.find_element(By.ID, "flame-root")).select_by_value("phase")
        frames = self.script("[...document.querySelectorAll('.flame .d3-flame-graph-label')].map((e) => e.textContent)")
        self.assertIn("phase: commit", frames)
        self.assertIn("baseapp.(*BaseApp).Commit", frames)
        self.assertEqual([name for name in frames if name.startswith("github.com/")], [])
        self.assert_clean()
        Select(self.driver.find_element(By.ID, "flame-source")).select_by_value("0")
        self.assertIn("change, one to two: cpu", self.driver.find_element(By.ID, "flame-source").text)
        # The difference shows both sides of a frame.
        self.driver.find_element(By.CLASS_NAME, "flame").send_keys(Keys.ARROW_DOWN)
        self.assertRegex(self.driver.find_element(By.ID, "flame-details").text, "before, .* after")

    def test_runs_that_do_not_compare(self) -> None:
        other = self.json_of("two")
        other["app_hash_chain"] = "00"
        other["csv"] = other["options"]["csv"] = None
        with open(self.path("other.json"), "w", encoding="utf-8") as file:
            json.dump(other, file)
        self.report(self.path("one.json"), self.path("other.json"), "--html", self.path("odd.html"))
        self.open("odd.html")
        self.assertIn("different app hashes", self.elements(".badge.bad")[0].text)

    def test_flame_graph(self) -> None:
        self.open("one.html")
        flame = self.driver.find_element(By.CLASS_NAME, "flame")
        frames = lambda: self.script("[...document.querySelectorAll('.flame g.frame')].map((g) => g.getAttribute('name'))")
        self.assertGreater(len(frames()), 20)
        # Executing transactions is most of the run; shorter phases may have no sample.
        self.assertIn("phase: deliver_tx", frames())
        Select(self.driver.find_element(By.ID, "flame-root")).select_by_value("thread_role")
        self.assertIn("thread_role: main", frames())
        self.assertNotIn("phase: deliver_tx", frames())
        Select(self.driver.find_element(By.ID, "flame-root")).select_by_value("")
        self.assertNotIn("thread_role: main", frames())
        # The root is all that was sampled.
        total = self.driver.find_element(By.ID, "flame-found").text
        self.assertRegex(total, r"^[\d.]+ m?s in all$")

        search = self.driver.find_element(By.ID, "flame-search")
        search.send_keys("blockreplay::")
        self.assertRegex(self.driver.find_element(By.ID, "flame-found").text, r"^\d+ frames, [\d.]+ %")
        self.assertGreater(self.script("[...document.querySelectorAll('.flame g.frame rect')]"
                                       ".filter((r) => r.getAttribute('fill') === '#e85bd2').length"), 0)

        # With the keyboard: into a frame, zoom, out again.
        search.send_keys(Keys.ENTER)
        self.assertTrue(self.script("document.activeElement.classList.contains('flame')"))
        flame.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        before = len(frames())
        self.assertEqual(len(self.elements(".flame .chosen")), 1)
        name = self.driver.find_element(By.ID, "flame-details").text.splitlines()[0]
        self.assertTrue(name)
        flame.send_keys(Keys.ARROW_RIGHT)
        self.assertNotEqual(self.driver.find_element(By.ID, "flame-details").text.splitlines()[0], "")
        flame.send_keys(Keys.ENTER)
        self.assertGreater(len(self.elements(".flame .fade")), 0)
        flame.send_keys(Keys.ESCAPE)
        self.assertEqual(len(self.elements(".flame .fade")), 0)
        self.assertGreaterEqual(len(frames()), before)
        if "heap" in self.driver.find_element(By.ID, "flame-source").text:
            Select(self.driver.find_element(By.ID, "flame-source")).select_by_visible_text("one.heap")
            Select(self.driver.find_element(By.ID, "flame-type")).select_by_visible_text("alloc_space (bytes)")
            self.assertRegex(self.driver.find_element(By.ID, "flame-found").text, "[kMG]B")
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_keyboard(self) -> None:
        self.open("one.html", "light")
        body = self.driver.find_element(By.TAG_NAME, "body")
        body.send_keys("t")
        self.assertEqual(self.script("document.documentElement.dataset.theme"), "dark")
        body.send_keys("t")
        self.assertEqual(self.script("document.documentElement.dataset.theme"), "light")
        body.send_keys("/")
        self.assertEqual(self.script("document.activeElement.id"), "flame-search")
        plot = self.elements("#blocks .canvas")[0]
        plot.send_keys(Keys.ARROW_RIGHT)
        self.assertIn("51 to", plot.text)
        plot.send_keys("+")
        plot.send_keys(Keys.ESCAPE)
        # Everything that acts can be reached.
        reachable = self.script("[...document.querySelectorAll('a, button, select, input, summary, .canvas, .flame')]"
                                ".every((e) => e.tabIndex >= 0)")
        self.assertTrue(reachable)
        head = self.elements("#stores th button")[1]
        head.send_keys(Keys.ENTER)
        values = [int(cell.get_attribute("data-value")) for cell in self.elements("#stores tbody td:nth-child(2)")]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_narrow(self) -> None:
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        try:
            self.open("one.html")
            self.assertLessEqual(self.script("document.documentElement.scrollWidth"), 421)
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_errors_are_one_line(self) -> None:
        with open(self.path("junk"), "wb") as file:
            file.write(os.urandom(500))
        html = ("--html", self.path("x.html"))
        for args in ((self.path("junk"), *html), (self.path("nothing.json"), *html),
                     (self.path("figures.json"), *html), (self.path("one.json"),),
                     (self.path("one.json"), *html, "--beside", self.path("junk")),
                     (self.path("one.json"), "--html", self.path("no/such/folder.html"))):
            with self.subTest(args=args):
                lines = self.report(*args, expect=1).stderr.splitlines()
                self.assertEqual(len(lines), 1, lines)
        self.assertFalse(os.path.exists(self.path("x.html")))


if __name__ == "__main__":
    if not (CHROMIUM and DRIVER and webdriver):
        missing = [name for name, there in (("chromium", CHROMIUM), ("chromium-driver", DRIVER),
                                            ("python3-selenium", webdriver)) if not there]
        print(f"skipped: needs the packages {' '.join(missing)} to look at pages")
        result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(ThirdParty))
        sys.exit(77 if result.wasSuccessful() else 1)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
