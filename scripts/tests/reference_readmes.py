#!/usr/bin/env python3
"""Compares the READMEs of the papers in results/reference with the stored results.

  reference_readmes.py [--write] RESULTS/REFERENCE

Each README has a block of figures and totals, which this script computes from the CSV files, and a
file numbers.csv with other numbers of its text. Figures (figures/*.svg) are drawn from the same
files. Each claim of a paper must have a rule in the stored results, or a line in claims.csv with
the reason why it has none. A line of numbers.csv has a piece of the text, the claim, cell and
quantity of the number, and its format; the README must contain the piece, and the piece the stored
number. The table of audit/README.md is computed from the stored outputs of `headcrash audit`.
`--write` replaces the blocks and the figures; otherwise a difference is an error.
"""
import csv
import pathlib
import re
import sys

from paper_figures import Figure, draw

BEGIN, END = "<!-- begin: stored results -->", "<!-- end: stored results -->"
VERDICTS = ("holds", "does not hold", "undecided", "vacuous")
CLASSES = {
    "paper": "**paper**: a run against a statement of the paper",
    "ours": "ours: our own question, reading or threshold",
    "arithmetic": "arithmetic: printed numbers, a formula, or the construction",
    "calibrated": "calibrated: the number from which a constant was calibrated",
}
# The main figures of each paper, as in its Paper (harness/papers/*): name, claim, cell, quantity.
# The files are those of the complete paper; variants such as dbench-full are not counted.
PAPERS = {
    "ganger94": (["ganger94", "gap"], [
        ("4-user copy, Soft Updates, % of No Order", "GP-15", "Soft Updates", "of No Order"),
        ("4-user remove, Conventional, % of No Order", "GP-21", "Conventional", "of No Order"),
        ("largest ratio, Conventional by Soft Updates", "GP-28", "Conventional by Soft Updates",
         "largest ratio of elapsed times")]),
    "rosenblum92": (["simulator", "arithmetic", "logging", "array-writes", "two-files",
                     "small-files", "large-file", "recovery", "andrew", "production"], [
        ("write cost of cleaning, greedy, uniform, 75 % full", "LFS-12", "U = .75", "write cost"),
        ("new data's share of the bandwidth, mean of 11 disks, %", "LFS-38", "mean of all",
         "1 / write cost"),
        ("Andrew, LFS faster than SunOS, %", "LFS-32", "LFS over SunOS", "faster")]),
    "soares03": (["empty-files", "postmark", "dbench", "source-tree", "intervals", "short-lives",
                  "stalls", "crash-states", "arithmetic"], [
        ("empty files, snapshots cost, %", "MS-01", "KFS+snap over KFS", "more time"),
        ("dbench, 32 clients, snapshots over a journal, times", "MS-04",
         "KFS+snap over ext3, 32 clients", "rate"),
        ("crash states that break a rule, snapshots", "MS-07", "snapshots", "break a rule")]),
    "chen96": (["calculator", "writes", "rules", "policies", "delays", "loss"], [
        ("Andrew, zero delay, s", "CH-11", "zero delay", "elapsed"),
        ("120 MB read while 120 MB are written, zero delay, MB/s", "CH-12", "zero delay",
         "read and written"),
        ("longest burst, s", "CH-15", "the longest", "drained in")]),
    "peacock98": (["peacock98", "hot-spot"], [
        ("RAID-5 with Presto, bmap + fast fsck over VxFS/VxLD, times", "PK-08",
         "bmap + fast fsck over VxFS/VxLD", "throughput"),
        ("full check of an empty file system of 44 GB, s", "PK-13", "UFS, empty", "recovery"),
        ("fast fsck of an empty file system of 44 GB, s", "PK-13", "bmap + fast fsck, empty", "recovery")]),
}
SCHEMES = {name: name for name in ("Conventional", "Flag", "Chains", "Soft Updates", "No Order")}
LOADS = {f"{name}, {clients} client{'s' if clients > 1 else ''}": f"{name}, {clients} clients"
         for clients in (1, 8, 32) for name in ("ext2", "ext3", "KFS", "KFS+snap")}
FIGURES = {
    "ganger94": [
        Figure("copy", "Copy by 4 users, % of No Order's time (GP-15)", "GP-15", "of No Order", SCHEMES),
        Figure("remove", "Remove by 4 users, % of No Order's time (GP-21)", "GP-21", "of No Order",
               SCHEMES, logarithmic=True)],
    "rosenblum92": [
        Figure("small-files", "Creating files of 1 KB, files/s (LFS-22)", "LFS-22", "create",
               {"Sprite LFS": "Sprite LFS", "SunOS": "SunOS"}),
        Figure("bandwidth", "Share of the bandwidth for new data, % (LFS-38)", "LFS-38",
               "1 / write cost", {name: name for name in (
                   "/src/kernel", "/local", "/swap1", "/tmp", "/pcs", "/src", "/X11")})],
    "soares03": [
        Figure("dbench", "dbench, MB/s (MS-03)", "MS-03", "read and written", LOADS)],
    "chen96": [
        Figure("andrew", "Andrew, s (CH-11)", "CH-11", "elapsed",
               {name: name for name in ("infinite delay", "zero delay", "write-through")},
               logarithmic=True)],
    "peacock98": [
        Figure("laddis", "Highest rate at 50 ms, ops/s (PK-05)", "PK-05", "highest rate at 50 ms",
               {name: name for name in ("RAID-5", "RAID-5, Presto", "RAID-0", "RAID-0, Presto")}),
        Figure("recovery", "Recovery after a crash under load, s (PK-16)", "PK-16", "recovery",
               {name: name for name in ("UFS", "fast fsck", "fast fsck + Presto", "VxFS",
                                        "VxFS + Presto")}, logarithmic=True)],
}
# The names that claims of a second reading of the paper end with, after a comma.
READINGS = {"gap": "second reading (rotational gap)", "queue": "second reading (queue)",
            "hot spot": "second reading (hot spot)", "folders": "second reading (folders)"}
# The prefix and the number of the claims of each paper.
CLAIMS = {"ganger94": ("GP", 35), "rosenblum92": ("LFS", 44), "soares03": ("MS", 16),
          "chen96": ("CH", 18), "peacock98": ("PK", 27)}
# The audited programs: the stored output (audit/NAME.txt), and the name in the README.
AUDITED = {"sqlite-journal": "SQLite, rollback journal", "sqlite-wal": "SQLite, WAL", "git": "git",
           "leveldb": "LevelDB", "maildir": "safecat"}
SITE = re.compile(r"(.*?)  ?(\w+(?:\(.*?\)|, no flush)) +(\d+|-)  (.*?)  +([\d.]+ ms|-)")
problems = []


def rows_of(folder, files):
    """Returns the lines of the files as dictionaries. Each line must have all columns."""
    rows = []
    for name in files:
        path = folder / f"{name}.csv"
        with path.open(newline="") as file:
            lines = list(csv.reader(file, strict=True))
        for number, line in enumerate(lines[1:], 2):
            if len(line) != len(lines[0]):
                problems.append(f"{path}:{number}: {len(line)} cells, not {len(lines[0])}")
            elif line[1] not in ("number", "rule"):
                problems.append(f"{path}:{number}: the kind is {line[1]!r}")
            rows.append(dict(zip(lines[0], line)))
    return rows


def number_of(rows, claim, cell, quantity):
    for row in rows:
        if (row["kind"], row["claim"], row["cell or rule"], row["quantity"]) == (
                "number", claim, cell, quantity):
            return row
    return None


def short(text):
    """Formats a stored number with three significant digits, and all digits of an integer."""
    value = float(text)
    if abs(value) >= 100:
        return f"{value:.1f}" if value != round(value) and abs(value) < 1000 else f"{value:.0f}"
    return f"{value:.3g}"


def reading_of(row):
    """Returns the key of READINGS, or an empty string for the first reading."""
    last = row["claim"].rpartition(", ")[2]
    return last if last in READINGS else ""


def totals_of(rows):
    totals = {kind: dict.fromkeys(VERDICTS, 0) for kind in CLASSES}
    for row in rows:
        if row["kind"] == "rule":
            totals[row["class"]][row["verdict or remark"]] += 1
    return totals


def figures_of(paper, rows):
    """Returns the SVG text of each figure, by its file name."""
    texts = {}
    for figure in FIGURES[paper]:
        numbers = {}
        for cell in figure.bars.values():
            row = number_of(rows, figure.claim, cell, figure.quantity)
            if row is None:
                problems.append(f"{figure.claim}: no stored number {cell}, {figure.quantity}")
                continue
            numbers[cell] = tuple(float(row[column]) if row.get(column) else None
                                  for column in ("paper", "ours", "low", "high"))
        if len(numbers) == len(figure.bars):
            texts[f"figures/{figure.name}.svg"] = draw(figure, numbers)
    return texts


def block_of(paper, rows, figures):
    lines = [BEGIN, "| figure | paper | here |", "|---|---|---|"]
    for name, claim, cell, quantity in figures:
        row = number_of(rows, claim, cell, quantity)
        if row is None:
            problems.append(f"{claim}: no stored number {cell}, {quantity}")
            continue
        here = short(row["ours"]) if row["ours"] else row["verdict or remark"]
        if row.get("low") and row["low"] != row["high"]:
            here += f" ({short(row['low'])} to {short(row['high'])} in five executions)"
        lines.append(f"| {name} ({claim}) | {short(row['paper'])} | {here} |")
    for figure in FIGURES[paper]:
        lines += ["", f"![{figure.title}](figures/{figure.name}.svg)"]
    lines += ["", "| rules, by class | hold | do not hold | undecided | vacuous |",
              "|---|---|---|---|---|"]
    for reading in ("", *READINGS):
        chosen = [row for row in rows if row["kind"] == "rule" and reading_of(row) == reading]
        for kind, totals in totals_of(chosen).items():
            if sum(totals.values()) > 0:
                name = CLASSES[kind].split(":")[0] + f", {READINGS[reading]}" if reading \
                    else CLASSES[kind]
                lines.append(f"| {name} | " + " | ".join(map(str, totals.values())) + " |")
    decided = [row for row in rows if row["kind"] == "rule" and row["class"] == "paper"]
    once = sum(row["executions"] == "1" for row in decided)
    rest = "Each" if once == 0 else "Each other rule"
    single = f" {once} of them {'is' if once == 1 else 'are'} judged by a single execution." if once else ""
    lines += ["", f"The class `paper` has {len(decided)} rules.{single} {rest} has been executed with "
              "five seeds, or does not depend on a seed.", END]
    return "\n".join(lines)


def check_totals(folder, files):
    """Compares the totals that the command printed with those of the CSV."""
    for name in files:
        text = (folder / f"{name}.txt").read_text()
        for kind, totals in totals_of(rows_of(folder, [name])).items():
            printed = re.search(rf"^{kind} +(\d+) +(\d+) +(\d+) +(\d+)$", text, re.M)
            counted = tuple(totals.values())
            if (tuple(map(int, printed.groups())) if printed else (0, 0, 0, 0)) != counted:
                problems.append(f"{folder.name}/{name}: {kind}: the text has "
                                f"{printed.groups() if printed else None}, the CSV {counted}")


def audit_block(folder):
    """Returns the table of all call sites in the stored outputs of `headcrash audit`."""
    lines = [BEGIN, "| program | call site | calls | verdict | cost of a call |", "|---|---|---|---|---|"]
    with (folder / "runs.csv").open(newline="") as file:
        runs = {line["program"]: line for line in csv.DictReader(file, strict=True)}
    for name, title in AUDITED.items():
        sites = []
        for line in (folder / f"{name}.txt").read_text().splitlines()[1:]:
            site = SITE.fullmatch(line)
            if not site:
                break
            stack = re.sub(r"[\w.]+\+(?=0x)| \([\w.]+\)", "", site.group(1)).strip()
            sites.append(f"| {title} | `{stack}` {site.group(2)} | {site.group(3)} | "
                         f"{site.group(4)} | {site.group(5)} |")
        if not sites:
            problems.append(f"{folder}/{name}.txt: no call sites")
        lines += sites
    seconds = ", ".join(f"{title} {runs[name]['seconds']} s" for name, title in AUDITED.items())
    return "\n".join(lines + ["", f"Times for the four file systems: {seconds}.", END])


def compare_block(readme, block, write):
    """Compares the block of a README with the computed one, or replaces it."""
    text = readme.read_text()
    found = re.search(re.escape(BEGIN) + ".*?" + re.escape(END), text, re.S)
    if not found:
        problems.append(f"{readme}: no block \"{BEGIN}\"")
    elif write:
        readme.write_text(text.replace(found.group(0), block))
    elif found.group(0) != block:
        problems.append(f"{readme}: the block differs from the stored results; run "
                        "scripts/tests/reference_readmes.py --write results/reference")


def check_numbers(folder, text):
    """Compares other numbers of the README (numbers.csv)."""
    path = folder / "numbers.csv"
    if not path.exists():
        return 0
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file, strict=True))
    plain = " ".join(text.split())
    for line in lines:
        stored = number_of(rows_of(folder, [line["file"]]), line["claim"], line["cell"],
                           line["quantity"])
        where = f"{folder.name}/README.md: \"{line['text']}\""
        if " ".join(line["text"].split()) not in plain:
            problems.append(f"{where} is not in the text")
        elif stored is None or not stored[line["column"]]:
            problems.append(f"{where}: no stored number")
        else:
            number = format(float(stored[line["column"]]), line["format"]).replace("0.", ".", 1) \
                if abs(float(stored[line["column"]])) < 1 else \
                format(float(stored[line["column"]]), line["format"])
            if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", line["text"]):
                problems.append(f"{where}: the stored number is {number}")
    return len(lines)


def check_claims(root):
    """Checks that each claim has a rule or a reason (claims.csv). Returns the number of claims."""
    path = root / "claims.csv"
    with path.open(newline="") as file:
        reasons = {line["claim"]: line for line in csv.DictReader(file, strict=True)}
    known = set()
    for paper, (prefix, count) in CLAIMS.items():
        rows = rows_of(root / paper, PAPERS[paper][0])
        judged = {row["claim"].split(",")[0] for row in rows if row["kind"] == "rule"}
        for number in range(1, count + 1):
            claim = f"{prefix}-{number:02}"
            known.add(claim)
            state = reasons.get(claim, {}).get("state")
            if claim in judged and state not in (None, "part open"):
                problems.append(f"{path}: {claim} has a rule in {paper}, so it is not {state}")
            elif claim not in judged and state not in ("elsewhere", "open", "cannot"):
                problems.append(f"{path}: {claim} has no rule in {paper}, and no reason here")
    for claim, line in reasons.items():
        if claim not in known or not line["why"]:
            problems.append(f"{path}: {claim}: no such claim, or no reason")
    return len(known)


def stacks_block(rows):
    """Returns the block of the README of stacks: for each kernel, how many cells had each verdict."""
    kernels = sorted({row["kernel"] for row in rows},
                     key=lambda kernel: [int(part) for part in kernel.split(".") if part.isdigit()])
    kinds = {"kept": "kept", "known failure": "known failure", "lost (nothing promised)":
             "lost, as documented", "control: ": "control, as required"}
    lines = [BEGIN, "| verdict | " + " | ".join(kernels) + " |", "|---" * (len(kernels) + 1) + "|"]
    named = {kind: [0] * len(kernels) for kind in [*kinds.values(), "not as required"]}
    for row in rows:
        kind = next((text for start, text in kinds.items() if row["verdict"].startswith(start)),
                    "not as required")
        named[kind][kernels.index(row["kernel"])] += 1
    lines += [f"| {kind} | " + " | ".join(map(str, counts)) + " |" for kind, counts in named.items()]
    states = [sum(int(row["states"]) for row in rows if row["kernel"] == each) for each in kernels]
    lines += ["| states | " + " | ".join(map(str, states)) + " |", END]
    return "\n".join(lines)


def main():
    write = "--write" in sys.argv
    root = pathlib.Path([each for each in sys.argv[1:] if each != "--write"][0])
    numbers = 0
    for paper, (files, figures) in PAPERS.items():
        folder = root / paper
        rows = rows_of(folder, files)
        check_totals(folder, files)
        readme = folder / "README.md"
        text = readme.read_text()
        for name, svg in figures_of(paper, rows).items():
            file = folder / name
            if write:
                file.parent.mkdir(exist_ok=True)
                file.write_text(svg)
            elif not file.exists() or file.read_text() != svg:
                problems.append(f"{file}: differs from the stored results; run "
                                "scripts/tests/reference_readmes.py --write results/reference")
        compare_block(readme, block_of(paper, rows, figures), write)
        numbers += check_numbers(folder, text)
    compare_block(root / "audit" / "README.md", audit_block(root / "audit"), write)
    with (root / "stacks" / "cells.csv").open(newline="") as file:
        cells = list(csv.DictReader(file, strict=True))
    compare_block(root / "stacks" / "README.md", stacks_block(cells), write)
    claims = check_claims(root)
    for each in problems:
        print(each, file=sys.stderr)
    if not problems:
        print(f"reference_readmes: {len(PAPERS) + 2} blocks and {numbers} numbers are the stored ones, "
              f"{claims} claims have a rule or a reason")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
