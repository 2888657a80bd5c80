#!/usr/bin/env python3
"""The page of a crash in a real browser.

  crash_page.py log FILE            a log of dm-log-writes with 10 000 requests, hostile marks among them
  crash_page.py measure PAGE        opens the page of that recording in headless Chromium, moves the slider over it, and
                                    prints one JSON object: how long each move took until the next frame, and how many
                                    writes were at risk before each flush
  crash_page.py expected            what these numbers of writes have to be, from the log's own list

The writes that a cut can lose are derived from the log alone: those after the last flush.
"""

import http.server
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

SECTOR = 512
FLUSH, FUA, MARK = 1, 2, 8  # dm-log-writes.c
REQUESTS = 10_000
HOSTILE = "persisted </script><script>document.title='broken'</script><!--"


def entries():
    """(flags, sector, data), always the same."""
    draw = random.Random(24)
    list_ = []
    while sum(1 for e in list_ if e[0] != MARK) < REQUESTS:
        for _ in range(draw.randrange(1, 60)):
            list_.append((FUA if draw.random() < 0.05 else 0, draw.randrange(0, 60_000), bytes([draw.randrange(256)]) * SECTOR))
        list_.append((FLUSH, 0, b""))
        if draw.random() < 0.2:
            list_.append((MARK, 0, HOSTILE.encode()))
    return list_


def write_log(path):
    all_ = entries()
    with open(path, "wb") as out:
        out.write(struct.pack("<QQQI", 0x6A736677736872, 1, len(all_), SECTOR).ljust(SECTOR, b"\0"))
        for flags, sector, data in all_:
            head = struct.pack("<QQQQ", sector, 0 if flags in (FLUSH, MARK) else len(data) // SECTOR, flags, len(data) if flags == MARK else 0)
            if flags == MARK:
                out.write((head + data).ljust(SECTOR, b"\0"))
            else:
                out.write(head.ljust(SECTOR, b"\0") + data)


def expected():
    """At risk just before each flush: written since the last one, and not FUA."""
    counts, now = [], 0
    for flags, _, _ in entries():
        if flags == FLUSH:
            counts.append(now)
            now = 0
        elif flags == 0:
            now += 1
    return counts


# Each move is one input event of the slider; the second frame after it is the first that a user can have seen.
PROBE = """
<script>
addEventListener('load', async () => {
  const slider = document.getElementById('cut'), most = Number(slider.max), took = [], handled = [];
  const frame = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  document.getElementById('all').click();
  await frame();
  for (let i = 0; i < 60; ++i) {
    const begin = performance.now();
    slider.value = Math.round(most * ((i * 37) % 60) / 59);
    slider.dispatchEvent(new Event('input'));
    document.querySelector('.crash svg').getBoundingClientRect();
    handled.push(performance.now() - begin);
    await frame();
    took.push(performance.now() - begin);
  }
  const flushes = JSON.parse(document.getElementById('crash-data').textContent).flushes;
  const risks = flushes.map((flush) => crashPage.risksAt(flush[2]).length);
  const bars = document.querySelector('.crash.wide .bars path').getAttribute('d').length;
  await fetch('/result', {method: 'POST', body: JSON.stringify({took, handled, risks, bars, title: document.title})});
});
</script>
"""


def measure(path):
    page = open(path, encoding="utf-8").read()
    # The page forbids all loading; only here may it answer.
    page = page.replace("default-src 'none'", "default-src 'none'; connect-src 'self'", 1)
    page = page.replace("</body>", PROBE + "</body>").encode()
    answer, done = {}, threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path == "/":
                self.wfile.write(page)

        def do_POST(self):
            answer.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            done.set()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    profile = tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(path)))
    browser = subprocess.Popen(
        [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1440,1000", f"--user-data-dir={profile}",
         "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_port}/"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    ended = done.wait(90)
    os.killpg(browser.pid, 15)
    browser.wait(20)
    if not ended:
        sys.exit("the page did not answer within 90 s")
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    if sys.argv[1] == "log":
        write_log(sys.argv[2])
    elif sys.argv[1] == "measure":
        measure(sys.argv[2])
    else:
        json.dump(expected(), sys.stdout)
