"""What matches, what is explained and what words there are, told in small corpora; for each engine."""

import pytest
from engines import PARAMS, bitmap, build, each_engine, entry, everything, kbid, open_files, plan, searcher

from kbdb.errors import InvalidArgumentError
from kbdb.index.api import EngineModule, Searcher
from kbdb.plan import TOTAL_LIMIT, Alternative, Clause, Plan

ANIMALS = [
    entry(1, "cats", "a cat and a dog"),
    entry(2, "dogs", "the dog barks at the cats, cat, cats"),
    entry(3, "birds", "nothing of the kind", tags="dog"),
    entry(4),
]


def clause(kind: str, *stems: str, field: int | None = None) -> Clause:
    return Clause(" ".join(stems), (Alternative(stems),), kind, field)  # type: ignore[arg-type]


def found(over: Searcher, query: Plan) -> set[str]:
    return {kbid_text for kbid_text, _ in over.rank(query, 10)}


def names(*numbers: int) -> set[str]:
    """Kbids as text, by long division instead of shifts."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    texts = set()
    for number in numbers:
        value, digits = int.from_bytes(kbid(number), "big") * 4, []
        for _ in range(26):
            value, digit = divmod(value, 32)
            digits.append(alphabet[digit])
        texts.add("".join(reversed(digits)))
    return texts


@each_engine
def test_should_must_and_must_not(engine: EngineModule) -> None:
    animals = searcher(engine, ANIMALS)
    assert names(1, 2, 3) == found(animals, plan("dog"))
    assert names(1, 2) == found(animals, Plan((clause("should", "dog"), clause("must", "cat"))))
    assert names(3) == found(animals, Plan((clause("should", "dog"), clause("must_not", "cat"))))
    assert names(3, 4) == found(animals, Plan((clause("must_not", "cat"),)))
    assert names(1, 2, 3, 4) == found(animals, Plan(()))
    assert set() == found(animals, plan("nowhere"))
    assert names(1, 2) == found(animals, Plan((clause("must", "cat"), clause("should", "nowhere"))))


@each_engine
def test_a_field_clause_may_exclude_too(engine: EngineModule) -> None:
    animals = searcher(engine, ANIMALS)
    assert names(2) == found(animals, Plan((clause("should", "dog", field=0),)))
    assert names(1, 3) == found(animals, Plan((clause("should", "dog"), clause("must_not", "dog", field=0))))


@each_engine
def test_phrases_stand_in_one_field_at_neighbouring_positions(engine: EngineModule) -> None:
    over = searcher(
        engine,
        [entry(1, "", "new york new york"), entry(2, "new", "york"), entry(3, "", "york new"), entry(4, "new york")],
    )
    assert names(1, 4) == found(over, Plan((clause("should", "new", "york"),)))
    assert names(1, 3) == found(over, Plan((clause("should", "york", "new"),)))
    assert names(1) == found(over, Plan((clause("should", "new", "york", "new", "york"),)))
    assert names(4) == found(over, Plan((clause("should", "new", "york", field=0),)))
    assert set() == found(over, Plan((clause("should", "new", "new"),)))
    hits = over.search(Plan((clause("should", "new", "york"),)), 10).hits
    frequencies = {over.explain(Plan((clause("should", "new", "york"),)), 0, hit.entry)[0].frequencies for hit in hits}
    assert {(0, 2, 0, 0, 0), (1, 0, 0, 0, 0)} == frequencies


@each_engine
def test_allowed_narrows_and_never_changes_scores(engine: EngineModule) -> None:
    animals = searcher(engine, ANIMALS)
    everything_found = animals.search(plan("dog", "cat"), 10)
    for hit in everything_found.hits:
        narrowed = animals.search(plan("dog", "cat"), 10, [bitmap(4, [hit.entry])])
        assert ((hit,), 1, True) == (narrowed.hits, narrowed.total, narrowed.total_is_exact)


@each_engine
def test_totals_count_up_to_their_limit(engine: EngineModule) -> None:
    over = searcher(engine, [entry(i, "same" if i else "other") for i in range(TOTAL_LIMIT + 2)])
    allowed = [bitmap(TOTAL_LIMIT + 2, range(TOTAL_LIMIT))]
    assert (over.search(plan("same"), 3).total, over.search(plan("same"), 3).total_is_exact) == (TOTAL_LIMIT, False)
    assert over.search(plan("same"), 3, allowed).total_is_exact
    assert (over.search(plan("nowhere"), 3).hits, over.search(plan("nowhere"), 3).total) == ((), 0)
    assert over.search(plan("same"), 0).hits == ()


@each_engine
def test_matched_names_the_clauses(engine: EngineModule) -> None:
    animals = searcher(engine, ANIMALS)
    query = Plan((clause("should", "cat"), clause("must_not", "nowhere"), clause("must", "dog")))
    matched = {hit.score: hit.matched for hit in animals.search(query, 10).hits}
    assert {0b101, 0b100} == set(matched.values())
    assert matched[min(matched)] == 0b100


@each_engine
def test_what_is_not_live_has_no_shares(engine: EngineModule) -> None:
    segment = open_files(engine, build(engine, ANIMALS))
    nothing_live = engine.Searcher([segment], [bitmap(4, [])], PARAMS)
    assert nothing_live.explain(plan("dog"), 0, 0) == ()
    assert (nothing_live.sections, nothing_live.totals, nothing_live.df("dog")) == (0, (0, 0, 0, 0, 0), 0)
    assert nothing_live.search(plan("dog"), 10).hits == ()


@each_engine
def test_words(engine: EngineModule) -> None:
    animals = searcher(engine, ANIMALS)
    assert (animals.df("cat"), animals.word_df("cats"), animals.word_df("dogs")) == (2, 2, 1)
    assert (animals.words_of("cat"), animals.words_of("bark"), animals.words_of("cats")) == (
        ["cat", "cats"],
        ["barks"],
        [],
    )
    assert animals.words_with_prefix("ca", 10) == [("cat", 2), ("cats", 2)]
    assert animals.words_with_prefix("do", 1) == [("dog", 3)]
    assert [("cats", 2), ("at", 1), ("barks", 1)][:1] == animals.words_containing("ats", 10)
    assert animals.words_containing("at", 10) == [("cat", 2), ("cats", 2), ("at", 1)]
    assert animals.words_near("cat", 1, 10) == [("cats", 1, 2)]
    assert animals.words_near("dgo", 2, 10) == [("dog", 1, 3), ("dogs", 2, 1)]
    assert animals.words_near("", 2, 10) == []


@each_engine
def test_one_cjk_character_finds_the_words_that_hold_it(engine: EngineModule) -> None:
    over = searcher(engine, [entry(1, "日本語"), entry(2, "", "本")])
    assert over.words_containing("本", 10) == [("日本", 1), ("本", 1), ("本語", 1)]


@each_engine
def test_similar_compares_sets_of_title_and_body(engine: EngineModule) -> None:
    over = searcher(engine, [entry(1, "a b", "c c"), entry(2, "", "a b c d", tags="e f"), entry(3, "x")])
    segment = open_files(
        engine, build(engine, [entry(1, "a b", "c c"), entry(2, "", "a b c d", tags="e f"), entry(3, "x")])
    )
    near = {segment.kbid(number): jaccard for _, number, jaccard in over.similar(["a", "b", "c", "a"], 0.75, 10)}
    assert {kbid(1): 1.0, kbid(2): 0.75} == near
    assert over.similar(["a", "b", "c"], 0.75, 0) == []
    assert over.similar([], 0.5, 10) == []


@each_engine
def test_similar_to_an_entry_leaves_the_entry_itself_out(engine: EngineModule) -> None:
    entries = [entry(1, "a b", "c c"), entry(2, "", "a b c d", tags="e f"), entry(3, "", "", tags="a")]
    over, segment = searcher(engine, entries), open_files(engine, build(engine, entries))
    first, second, third = (segment.find(kbid(number)) for number in (1, 2, 3))
    found = over.similar_to(0, [first, second, third], 0.75, 10)
    assert found == [[(0, second, 0.75)], [(0, first, 0.75)], []]
    assert over.similar_to(0, [second], 0.76, 10) == [[]]
    assert over.similar_to(0, [first], 0.75, 0) == [[]]


@each_engine
def test_no_segments_at_all(engine: EngineModule) -> None:
    nothing = engine.Searcher([], [], PARAMS)
    assert (nothing.sections, nothing.df("a"), nothing.words_with_prefix("", 10)) == (0, 0, [])
    assert (lambda r: (r.hits, r.total, r.total_is_exact))(nothing.search(plan("a"), 10)) == ((), 0, True)


@each_engine
def test_later_segments_replace_entries_of_earlier_ones(engine: EngineModule) -> None:
    old = open_files(engine, build(engine, [entry(1, "old"), entry(2, "kept")]))
    new = open_files(engine, build(engine, [entry(1, "new")], removed=[kbid(3), kbid(1)]))
    assert [kbid(3)] == new.removed()
    over = engine.Searcher([old, new], [bitmap(2, [old.find(kbid(2))]), everything(new)], PARAMS)
    assert (over.sections, over.df("old"), over.df("new")) == (2, 0, 1)
    assert (over.search(plan("new"), 1).hits[0].segment, over.search(plan("kept"), 1).hits[0].segment) == (1, 0)


@each_engine
def test_a_segment_gives_back_what_was_put_in(engine: EngineModule) -> None:
    given = [
        entry(1, "one two", "three", filters=["tag:a", "tag:b"], references=["doc:x"], stored=b"\0\xff", listed=False),
        entry(2, "", "four four", filters=["tag:b"], stored=b"two"),
    ]
    segment = open_files(engine, build(engine, given))
    one, two = segment.find(kbid(1)), segment.find(kbid(2))
    assert (2, {0, 1}, -1) == (segment.sections, {one, two}, segment.find(kbid(3)))
    assert (segment.stored(one), segment.stored(two)) == (b"\0\xff", b"two")
    assert (segment.lengths(one), segment.lengths(two)) == ((2, 1, 0, 0, 0), (0, 2, 0, 0, 0))
    assert (segment.distinct(one), segment.distinct(two)) == (3, 1)
    assert bitmap(2, [two]) == segment.listed()
    assert segment.filter_keys("tag:") == [("tag:a", 1), ("tag:b", 2)]
    assert (
        segment.filter_keys("tag:", after="tag:a"),
        segment.filter_keys("tag:", limit=1),
    ) == ([("tag:b", 2)], [("tag:a", 1)])
    assert (bitmap(2, [one]), bitmap(2, [])) == (segment.filter("tag:a"), segment.filter("tag:c"))
    assert ([("doc:x", 1)], [one], []) == (
        segment.reference_keys(""),
        segment.references("doc:x"),
        segment.references("d"),
    )
    segment.verify()


@each_engine
def test_the_same_kbid_twice_is_refused(engine: EngineModule) -> None:
    builder = engine.Builder(1, PARAMS)
    builder.add(entry(1))
    with pytest.raises(InvalidArgumentError):
        builder.add(entry(1, "again"))


@each_engine
def test_a_stemmer_that_answers_wrongly_is_refused(engine: EngineModule) -> None:
    for stem in (lambda words: words[1:], lambda words: ["" for _ in words]):
        builder = engine.Builder(1, PARAMS)
        builder.add(entry(1, "some words"))
        with pytest.raises(InvalidArgumentError):
            builder.finish(stem)


@each_engine
def test_the_stemmer_gets_each_word_once(engine: EngineModule) -> None:
    asked: list[list[str]] = []

    def stem(words: list[str]) -> list[str]:
        asked.append(list(words))
        return list(words)

    first = engine.Builder(1, PARAMS)
    first.add(entry(1, "b a b", "c"))
    first.finish(stem)
    assert asked == [["a", "b", "c"]]
