"""The ``kbdb`` command, which also prints ``stored`` and the kbids each time it has committed something."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from unittest.mock import patch

from kbdb.__main__ import main
from kbdb.knowledge.core import Core
from kbdb.store.store import Change

_commit = Core.commit


def _commit_and_tell(core: Core, changes: Sequence[Change]) -> int:
    generation = _commit(core, changes)
    kbids = {placement.kbid for change in changes for manifest in change.manifests for placement in manifest.sections}
    # Past Python's buffers: a killed process would lose what is in them.
    os.write(1, f"stored {' '.join(sorted(kbids))}\n".encode())
    return generation


if __name__ == "__main__":
    with patch.object(Core, "commit", _commit_and_tell):
        sys.exit(main())
