"""Regular expressions: `re`, or `regex` where Python's own misreads possessive groups.

Before 3.11.5, `(?:a|bc)*+` may match less than it should (https://github.com/python/cpython/issues/106052). `regex`
reads them right, and takes up to twice the time.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11, 5):  # pragma: no cover (which one is covered is a matter of the version)
    import re
else:  # pragma: no cover
    import regex as re  # type: ignore[no-redef]

__all__ = ["re"]
