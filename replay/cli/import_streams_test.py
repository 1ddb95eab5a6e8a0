#!/usr/bin/env python3
"""Tests imports from streams, change sets, traces and RPC as the program's users meet them.

usage: import_streams_test.py BLOCKREPLAY FALSIFY_RECORDING FIXTURES [unittest arguments]
"""

import http.server
import json
import os
import shutil
import sys
import threading
import unittest
import urllib.parse

from cli_test import FIXTURES, CliTest, manifest_of

# Nine blocks of a small SDK 0.47 application, told in three ways.
SDK47 = os.path.join(FIXTURES, "import/sdk-0.47")
GENESIS = ("--genesis", os.path.join(SDK47, "genesis.json"), "--stores", "alpha,beta,never")
RPC = os.path.join(SDK47, "rpc")


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers questions from files; every third one fails first."""

    asked: list[str] = []

    def do_GET(self):  # pylint: disable=invalid-name
        self.asked.append(self.path)
        url = urllib.parse.urlparse(self.path)
        height = urllib.parse.parse_qs(url.query).get("height", [""])[0]
        path = os.path.join(RPC, url.path.strip("/") + (f"-{height}" if height else "") + ".json")
        if len(self.asked) % 3 == 0:
            self.send_error(503)
        elif not os.path.exists(path):
            self.answer(500, b'{"jsonrpc":"2.0","id":-1,"error":{"message":"not here"}}')
        else:
            with open(path, "rb") as file:
                self.answer(200, b'{"jsonrpc":"2.0","id":-1,"result":' + file.read() + b"}")

    def answer(self, status: int, body: bytes):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class ImportStreams(CliTest):
    def imported(self, *args, expect=0):
        out = os.path.join(self.dir, f"out-{len(os.listdir(self.dir))}")
        result = self.run_tool("import", *args, "--out", out, "--cache-mb", "32", "--quiet",
                               expect=expect)
        self.assertEqual(os.path.exists(os.path.join(out, "manifest.json")), expect == 0)
        return out, result

    def assert_replays(self, recording, blocks):
        self.run_tool("check", recording)
        report = self.report(recording, "--quiet")
        self.assertEqual(report["blocks_verified"], blocks)
        with open(os.path.join(SDK47, "expected.json"), encoding="utf-8") as file:
            self.assertEqual(report["app_hash"], json.load(file)[blocks - 1]["app_hash"])

    def test_streaming_files_become_a_recording_that_replays(self):
        out, _ = self.imported("--streaming", os.path.join(SDK47, "files"), *GENESIS)
        self.assert_replays(out, 9)
        origin = manifest_of(out)["origin"]
        self.assertEqual(origin["source"], "state streaming files")
        self.assertEqual(origin["chain_id"], "stream-47")
        self.assertEqual(origin["ranges"], [{"first": 1, "last": 9}])
        self.assertEqual(origin["checks"]["results_hashes"], 8)

    def test_change_sets_and_answers_in_a_folder_become_one_too(self):
        out, _ = self.imported("--change-sets", os.path.join(SDK47, "changesets"), "--rpc", RPC,
                               "--to", "8", *GENESIS)
        self.assert_replays(out, 8)
        self.assertEqual(manifest_of(out)["origin"]["checks"]["header_app_hashes"], 8)

    def test_a_server_may_fail_now_and_then_and_its_answers_are_kept(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        keep = os.path.join(self.dir, "keep")
        args = ("--change-sets", os.path.join(SDK47, "changesets"), "--rpc", address, "--rpc-keep",
                keep, "--to", "8", *GENESIS)
        try:
            out, _ = self.imported(*args)
            self.assert_replays(out, 8)
            self.assertIn("block_results-8.json", os.listdir(keep))
            asked = len(Answers.asked)
            self.imported(*args)
            # All but the status, which this server does not tell.
            self.assertLessEqual(len(Answers.asked), asked + 2)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        out, _ = self.imported("--change-sets", os.path.join(SDK47, "changesets"), "--rpc", keep,
                               "--to", "8", *GENESIS)
        self.assert_replays(out, 8)

    def test_an_untrue_write_ends_with_2_and_leaves_nothing(self):
        files = os.path.join(self.dir, "files")
        shutil.copytree(os.path.join(SDK47, "files"), files)
        path = os.path.join(files, "block-5-data")
        os.chmod(path, 0o644)
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            data[-1] ^= 1
            file.seek(0)
            file.write(data)
        out, result = self.imported("--streaming", files, *GENESIS, expect=2)
        self.assertIn("5", result.stderr)
        self.assertFalse(os.path.exists(out))

    def test_what_is_missing_is_said_in_one_line(self):
        cases = {
            "not there without gap": ("--streaming", os.path.join(SDK47, "files"), "--to", "99"),
            "a base is needed": ("--streaming", os.path.join(SDK47, "files"), "--from", "3"),
            "nothing proves the block: add --rpc": ("--change-sets", os.path.join(SDK47, "changesets"),
                                                    *GENESIS, "--chain-id", "stream-47"),
            "has no files block-<height>-data": ("--streaming", self.dir),
            "end one block earlier (--to 8)": ("--change-sets", os.path.join(SDK47, "changesets"),
                                               "--rpc", RPC, *GENESIS),
            "excludes": ("--streaming", self.dir, "--change-sets", self.dir),
            "is no address": ("--streaming", os.path.join(SDK47, "files"), "--rpc", "ftp://host"),
            "name a source": (),
        }
        for message, args in cases.items():
            with self.subTest(message):
                _, result = self.imported(*args, expect=1)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
