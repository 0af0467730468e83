#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the sentences of manual pages, one a line, behind the page's name and a tab.

    sentences.py [--numbers] PAGE...     --numbers: only those with a number in them

Examples and what is generated from tables are left out: the ones are run by other tests, and
the others cannot differ from the programs. A word of several letters and digits (UTF-8, u8, gz2)
is no number, and neither is a page's section.
"""
import re
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:[._][0-9]+)*(?![\w])")


def prose(page):
    text = open(page, encoding="utf-8").read()
    for begin, end in ((r"\.Bd[^\n]*", r"\.Ed"), (r'\.\\" BEGIN[^\n]*', r'\.\\" END[^\n]*')):
        text = re.sub(rf"^{begin}\n.*?^{end}\n", ".Pp\n", text, flags=re.M | re.S)
    out = subprocess.run(["mandoc", "-Tutf8", "-Owidth=990"], input=text.encode(),
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.sub(".\b", "", out)


def sentences(page):
    for line in prose(page).split("\n"):
        line = " ".join(line.split())
        for s in re.split(r"(?<=[.:;!?])\s+(?=[A-Z(])", line):
            if not s.startswith("Debian "):  # the foot of the page
                yield s


def main():
    pages = sys.argv[1:]
    numbers = "--numbers" in pages
    for page in (p for p in pages if not p.startswith("--")):
        name = page.rsplit("/", 1)[-1]
        for s in sentences(page):
            bare = re.sub(r"\([1-8]\)", "", s)
            if s and (not numbers or NUMBER.search(bare)):
                print(f"{name}\t{s}")


main()
