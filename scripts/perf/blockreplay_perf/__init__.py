"""What scripts/perf/*.sh run: measuring, comparing, guarding and optimising blockreplay.

Everything is read from the program's public outputs: its command line, exit status, report.json,
CSV and exports (docs/command-line.md, docs/reports.md).
"""
