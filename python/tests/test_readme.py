# SPDX-License-Identifier: MIT
"""The sessions of README.md are what they say."""
import doctest
import os


def load_tests(loader, tests, pattern):
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "README.md")
    tests.addTests(doctest.DocFileSuite(path, module_relative=False))
    return tests
