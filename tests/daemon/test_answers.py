"""Answers as lines: the same JSON as everywhere else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kbdb.daemon.answers import answer_line
from kbdb.model.search import ExplainShare, PagedSearchResult, SearchHit, Unreadable
from kbdb.model.to_json import as_json

SLY = ',"content":null', '","explain":null}', '\\","content":null,"explain":null'
"""Texts that look like what is cut out of a line."""

texts = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(SLY)
several = st.lists(texts, max_size=3).map(tuple)
numbers = st.integers(0, 1 << 40)
scores = st.floats(allow_nan=False, allow_infinity=False)
shares = st.builds(
    ExplainShare, texts, texts, scores, scores, scores, scores, st.dictionaries(texts, numbers, max_size=2)
)
hits = st.builds(
    SearchHit,
    kbid=texts,
    docid=texts,
    title=texts,
    heading_path=several,
    level=numbers,
    line=numbers,
    line_end=numbers,
    source=texts,
    score=scores,
    snippet=texts,
    matched_terms=several,
    tags=several,
    section_type=texts,
    content=st.none() | texts,
    explain=st.none() | st.lists(shares, max_size=2).map(tuple),
)
answers = st.builds(
    PagedSearchResult,
    query=texts,
    search_mode=texts,
    retrieval_method=texts,
    match=texts,
    verdict=texts,
    generation=numbers,
    total=numbers,
    total_is_exact=st.booleans(),
    hidden=numbers,
    offset=numbers,
    limit=numbers,
    engine_ms=scores,
    elapsed_ms=scores,
    warnings=several,
    unreadable=st.lists(st.builds(Unreadable, texts, texts, texts), max_size=2).map(tuple),
    hits=st.lists(hits, max_size=4).map(tuple),
)


@given(answers)
def test_a_page_of_hits_is_told_as_json_shows_it(answer: PagedSearchResult) -> None:
    line = answer_line(7, answer)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    told: dict[str, Any] = json.loads(line)
    # Written and read again, since half a surrogate pair beside the other half is one character afterwards.
    assert json.loads(json.dumps({"jsonrpc": "2.0", "id": 7, "result": as_json(answer)})) == told
