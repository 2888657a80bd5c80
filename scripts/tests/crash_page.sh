#!/usr/bin/env bash
# A crash page from a recording of 10 000 requests: small, safe against its marks' content, and fast in a browser.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$scratch"

"$here/crash_page.py" log guest.log
exits 0 "$headcrash" recording import guest.log --format dm-log-writes -o run.hcrec
exits 0 "$headcrash" recording show run.hcrec --html run.html
says 'page of the crash: run.html' <err || failed "it does not say where the page is: $(cat err)"
size=$(stat -c %s run.html)
[ "$size" -lt 2000000 ] || failed "the page has $size bytes"
[ "$(grep -c "<script>document.title" run.html)" = 0 ] || failed "a mark of the guest became a script"
refuses 2 'w99999999-' -- "$headcrash" recording show run.hcrec --state w99999999- --html other.html
refuses 2 'nowhere' 'cannot be written' -- "$headcrash" recording show run.hcrec --html nowhere/run.html

if ! command -v chromium >/dev/null; then
  echo "no chromium: the page is not tried in a browser" >&2
  exit 77
fi
"$here/crash_page.py" measure run.html >measured.json || failed "the browser: $(cat measured.json)"
"$here/crash_page.py" expected >expected.json
python3 - <<'PY' || failed "the page in a browser"
import json, statistics, sys
measured, expected = json.load(open('measured.json')), json.load(open('expected.json'))
took, handled = sorted(measured['took']), sorted(measured['handled'])
print(f"slider: handled in {statistics.median(handled):.1f} ms (most {handled[-1]:.1f}); drawn after {statistics.median(took):.1f} ms, 9 of 10 within {took[len(took) * 9 // 10]:.1f}")
if measured['risks'] != expected:
    sys.exit('writes at risk before each flush differ from the log')
if measured['bars'] < 1000:
    sys.exit('the script has drawn nothing')
if 'broken' in measured['title']:
    sys.exit('a mark of the guest was executed')
# A user notices delays of 50 ms, and a browser draws a frame every 17 ms. On a busy machine some frames may be late, but not half of them.
if statistics.median(took) > 50:
    sys.exit(f'the slider is slow: {handled}, {took}')
PY
