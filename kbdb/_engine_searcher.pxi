# Part of _engine.pyx: searches a snapshot.


cdef class _Term:
    """A stem looked up in all of a searcher's segments."""

    cdef kb_term term

    def __dealloc__(self):
        free(self.term.stems)


cdef class _Scratch:
    """What one search writes to."""

    cdef kb_scratch scratch

    def __cinit__(self, uint32_t entries):
        kb_scratch_new(entries, &self.scratch)

    def __dealloc__(self):
        kb_scratch_free(&self.scratch)


# Scratches that no search uses now. A searcher lives from one commit to the next, and memory that is new costs a search more
# than the search: so they outlive it. Bounded by how many searches ever ran at a time, at most SCRATCHES_KEPT.
SCRATCHES_KEPT = 4
cdef list _free_scratches = []


cdef _Scratch _take_scratch(uint32_t entries):
    """A scratch for segments of so many entries; too small ones are let go."""
    cdef _Scratch scratch
    while _free_scratches:
        scratch = _free_scratches.pop()
        if scratch.scratch.entries >= entries:
            return scratch
    return _Scratch(entries)


cdef int _give_back(_Scratch scratch) except -1:
    if len(_free_scratches) < SCRATCHES_KEPT:
        _free_scratches.append(scratch)
    return 0


cdef class _Plan:
    """A plan as the library takes it, and what keeps its terms alive."""

    cdef kb_plan plan
    cdef kb_clause *clauses
    cdef kb_alternative *alternatives
    cdef const kb_term **terms
    cdef list held

    def __cinit__(self, clauses, size_t alternatives, size_t stems):
        self.held = []
        self.clauses = <kb_clause *>calloc(len(clauses) + 1, sizeof(kb_clause))
        self.alternatives = <kb_alternative *>calloc(alternatives + 1, sizeof(kb_alternative))
        self.terms = <const kb_term **>calloc(stems + 1, sizeof(kb_term *))
        if self.clauses == NULL or self.alternatives == NULL or self.terms == NULL:
            raise MemoryError()
        self.plan.clauses = self.clauses
        self.plan.count = <uint32_t>len(clauses)

    def __dealloc__(self):
        free(self.clauses)
        free(self.alternatives)
        free(self.terms)


cdef class Searcher:
    """A snapshot: segments, and the entries of each that are live. Entries outside do not exist for it.

    Attributes:
        sections: number of live entries, N.
        totals: summed lengths of ``FIELDS`` over the live entries.
        memory_bytes: held beside the segments' files, roughly; what searches write to counts for every searcher.
    """

    cdef kb_searcher _searcher
    cdef kb_bm25f_tables *_tables
    cdef kb_view *_views
    cdef uint32_t _count
    cdef uint32_t _largest
    cdef tuple _segments
    cdef tuple _live
    cdef dict _terms
    cdef kb_lanes_find _find

    def __cinit__(self, segments, live, params):
        """Counts the live entries.

        Args:
            segments: those to search; a hit names its segment by its place here.
            live: one bitmap a segment.
            params: of BM25F.

        Raises:
            CorruptError: lengths of a segment are damaged.
        """
        cdef kb_params values
        cdef kb_error error
        cdef kb_status status
        cdef Segment segment
        cdef uint32_t i
        self._segments = tuple(segments)
        self._live = tuple(live)
        self._terms = {}
        check_bitmaps(self._live, [segment.sections for segment in self._segments], "live")
        _take_params(params, &values)
        self._find = kb_lanes_find_avx2()
        if self._find == NULL or _is_portable():
            self._find = kb_lanes_find_portable
        self._count = <uint32_t>len(self._segments)
        self._views = <kb_view *>calloc(<size_t>self._count + 1, sizeof(kb_view))
        if self._views == NULL:
            raise MemoryError()
        for i in range(self._count):
            segment = self._segments[i]
            self._largest = max(self._largest, segment._segment.entries)
            self._views[i].segment = &segment._segment
            self._views[i].live = _start(self._live[i])
        with nogil:
            status = kb_searcher_open(self._views, self._count, &values, &self._searcher, &error)
        if status != KB_OK:
            raise self._failed(status, &error)

    def __dealloc__(self):
        free(self._views)
        free(self._tables)

    @property
    def sections(self):
        return self._searcher.sections

    @property
    def totals(self):
        return tuple([self._searcher.totals[i] for i in range(KB_FIELDS)])

    @property
    def memory_bytes(self):
        cdef _Scratch scratch
        cdef size_t held = sizeof(kb_searcher) + sizeof(kb_bm25f_tables) + self._count * sizeof(kb_view)
        held += len(self._terms) * (120 + self._count * sizeof(kb_stem))
        for scratch in _free_scratches:
            held += kb_scratch_bytes(&scratch.scratch)
        return held + sum(map(len, self._live))

    cdef object _failed(self, kb_status status, const kb_error *error):
        name = ""
        if status == KB_E_CORRUPT:
            name = (<Segment>self._segments[error.segment]).name
        return _failure(status, error, name)

    cdef _Term _term(self, str stem):
        """The stem in all segments; remembered, because the searcher never changes."""
        cdef _Term term = self._terms.get(stem)
        cdef kb_error error
        cdef kb_status status
        cdef bytes data
        cdef const uint8_t *start
        cdef size_t length
        if term is not None:
            return term
        data = utf8(stem, "a stem")
        start = _start(data)
        length = len(data)
        term = _Term()
        term.term.stems = <kb_stem *>calloc(<size_t>self._count + 1, sizeof(kb_stem))
        if term.term.stems == NULL:
            raise MemoryError()
        with nogil:
            status = kb_term_find(&self._searcher, start, length, &term.term, &error)
        if status != KB_OK:
            raise self._failed(status, &error)
        if len(self._terms) >= TERMS_KEPT:
            self._terms.clear()
        self._terms[stem] = term
        return term

    cdef int _tabulate(self) except -1:
        """Makes what plans are run with, once; not every searcher runs any. The GIL keeps other threads out."""
        if self._tables == NULL:
            self._tables = <kb_bm25f_tables *>malloc(sizeof(kb_bm25f_tables))
            if self._tables == NULL:
                raise MemoryError()
            kb_bm25f_tabulate(&self._searcher.bm25f, self._tables)
        return 0

    cdef _Plan _resolve(self, plan):
        """Looks the stems of a checked plan up."""
        cdef size_t alternatives = 0
        cdef size_t stems = 0
        cdef size_t i = 0
        cdef size_t at = 0
        cdef size_t stem_at = 0
        cdef kb_clause *target
        cdef kb_alternative *way
        cdef _Term term
        cdef _Plan made
        self._tabulate()
        for clause in plan.clauses:
            alternatives += <size_t>len(clause.alternatives)
            for alternative in clause.alternatives:
                stems += <size_t>len(alternative.stems)
        made = _Plan(plan.clauses, alternatives, stems)
        for i, clause in enumerate(plan.clauses):
            target = &made.clauses[i]
            target.alternatives = &made.alternatives[at]
            target.count = <uint32_t>len(clause.alternatives)
            target.fields = KB_ALL_FIELDS if clause.field is None else <uint32_t>1 << <uint32_t>clause.field
            target.kind = KB_SHOULD if clause.kind == "should" else KB_MUST if clause.kind == "must" else KB_MUST_NOT
            for alternative in clause.alternatives:
                way = &made.alternatives[at]
                at += 1
                way.terms = &made.terms[stem_at]
                way.count = <uint32_t>len(alternative.stems)
                way.weight = alternative.weight
                way.idf = 0.0
                for stem in alternative.stems:
                    term = self._term(stem)
                    made.held.append(term)
                    made.terms[stem_at] = &term.term
                    stem_at += 1
                    way.idf = way.idf + term.term.idf
        return made

    cdef tuple _search(self, plan, limit, allowed, uint64_t total_limit, bint as_rank):
        """Hits, as EngineHit or (kbid, score), and the total, exact up to a limit."""
        cdef _Plan made
        cdef _Scratch scratch
        cdef uint32_t most
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef uint64_t total = 0
        cdef kb_hit *hits = NULL
        cdef kb_hit *hit
        cdef const uint8_t *kbid = NULL
        cdef const uint8_t **bitmaps = NULL
        cdef kb_error error
        cdef kb_status status
        check_plan(plan)
        check_limit(limit)
        if allowed is not None:
            allowed = tuple(allowed)
            check_bitmaps(allowed, [segment.sections for segment in self._segments], "allowed")
        made = self._resolve(plan)
        most = <uint32_t>min(limit, self._searcher.sections)
        scratch = _take_scratch(self._largest)
        try:
            hits = <kb_hit *>malloc((<size_t>most + 1) * sizeof(kb_hit))
            if allowed is not None:
                bitmaps = <const uint8_t **>malloc((<size_t>self._count + 1) * sizeof(uint8_t *))
            if hits == NULL or (allowed is not None and bitmaps == NULL):
                raise MemoryError()
            if allowed is not None:
                for i in range(self._count):
                    bitmaps[i] = _start(allowed[i])
            with nogil:
                status = kb_search(&self._searcher, &made.plan, bitmaps, most, total_limit, self._find,
                                   &scratch.scratch, hits, &count, &total, &error)
            if status != KB_OK:
                raise self._failed(status, &error)
            found = []
            for i in range(count):
                hit = &hits[i]
                error.segment = hit.segment
                status = kb_corpus_kbid(&self._views[hit.segment].segment.corpus, hit.entry, &kbid, &error)
                if status != KB_OK:
                    raise self._failed(status, &error)
                if as_rank:
                    found.append((_kbid_text(kbid), hit.score))
                else:
                    found.append(EngineHit(hit.segment, hit.entry, hit.score, hit.matched, _kbid_text(kbid)))
            return found, total
        finally:
            _give_back(scratch)
            free(hits)
            free(bitmaps)

    def df(self, stem: str) -> int:
        """How many live entries hold a stem, in any field."""
        return self._term(stem).term.df

    def search(self, plan, limit: int, allowed=None) -> EngineResult:
        """The best ``limit`` sections that match, and how many match.

        Args:
            plan: the resolved query.
            limit: 0 or more.
            allowed: one bitmap a segment that narrows the candidates and never changes scores.
        """
        hits, total = self._search(plan, limit, allowed, TOTAL_LIMIT, False)
        return EngineResult(tuple(hits), min(total, TOTAL_LIMIT), total <= TOTAL_LIMIT)

    def rank(self, plan, limit: int) -> list:
        """Like ``search``, but just kbids, as 26 characters, and scores."""
        return self._search(plan, limit, None, 0, True)[0]

    def explain(self, plan, segment: int, entry: int) -> tuple:
        """The shares of the should and must clauses that occur in an entry, in plan order; none when it is not live."""
        cdef _Plan made
        cdef _Scratch scratch
        cdef kb_share shares[64]
        cdef kb_share *share
        cdef uint32_t place
        cdef uint32_t number
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef kb_error error
        cdef kb_status status
        check_plan(plan)
        check_segment_number(segment, self._count)
        check_entry_number(entry, self._segments[segment].sections)
        place = segment
        number = entry
        made = self._resolve(plan)
        scratch = _take_scratch(self._largest)
        with nogil:
            status = kb_explain(&self._searcher, &made.plan, place, number, &scratch.scratch, shares, &count, &error)
        _give_back(scratch)
        if status != KB_OK:
            raise self._failed(status, &error)
        explained = []
        for i in range(count):
            share = &shares[i]
            frequencies = tuple([share.frequencies[field] for field in range(KB_FIELDS)])
            explained.append(Share(share.clause, share.alternative, share.value, share.weight, share.idf,
                                   share.saturation, frequencies))
        return tuple(explained)

    cdef dict _words(self, kb_words_kind kind, str text, str what, uint32_t distance):
        """Words of all segments that fit, each with its distance and the live entries that hold it."""
        cdef bytes data = utf8(text, what)
        cdef const uint8_t *start = _start(data)
        cdef const uint8_t *word
        cdef size_t length = len(data)
        cdef size_t j
        cdef uint32_t i
        cdef uint32_t size = 0
        cdef kb_found_words words
        cdef kb_error error
        cdef kb_status status
        found = {}
        for i in range(self._count):
            memset(&words, 0, sizeof(words))
            error.segment = i
            try:
                with nogil:
                    status = kb_words_find(&self._views[i], kind, start, length, distance, &words, &error)
                for j in range(words.count if status == KB_OK else 0):
                    if words.items[j].df == 0:
                        continue
                    status = kb_strings_get(&self._views[i].segment.terms.words, words.items[j].number, &word, &size,
                                            &error)
                    if status != KB_OK:
                        break
                    key = _text(word, size, 0, (<Segment>self._segments[i]).name)
                    found[key] = (words.items[j].distance, found.get(key, (0, 0))[1] + words.items[j].df)
                if status != KB_OK:
                    raise self._failed(status, &error)
            finally:
                kb_found_words_free(&words)
        return found

    def words_of(self, stem: str) -> list:
        """The surface words that have a stem, ascending; those of entries that are not live as well."""
        cdef _Term term = self._term(stem)
        cdef const uint8_t *word
        cdef const kb_terms *terms
        cdef size_t j
        cdef uint32_t i
        cdef uint32_t size = 0
        cdef kb_found_words words
        cdef kb_error error
        cdef kb_status status
        found = set()
        for i in range(self._count):
            if term.term.stems[i].df == 0:
                continue
            memset(&words, 0, sizeof(words))
            terms = &self._views[i].segment.terms
            error.segment = i
            try:
                with nogil:
                    status = kb_words_of_stem(terms, &term.term.stems[i], &words, &error)
                for j in range(words.count):
                    if status == KB_OK:
                        status = kb_strings_get(&terms.words, words.items[j].number, &word, &size, &error)
                    if status != KB_OK:
                        break
                    found.add(_text(word, size, 0, (<Segment>self._segments[i]).name))
                if status != KB_OK:
                    raise self._failed(status, &error)
            finally:
                kb_found_words_free(&words)
        return sorted(found)

    def word_df(self, word: str) -> int:
        """How many live entries hold a surface word, in any field."""
        return self._words(KB_WORDS_EQUAL, word, "a word", 0).get(word, (0, 0))[1]

    def words_with_prefix(self, prefix: str, limit: int) -> list:
        """Words of live entries that begin with ``prefix``, with their word_df, by falling word_df, then word."""
        check_limit(limit)
        return _first(_by_df(self._words(KB_WORDS_PREFIX, prefix, "a prefix", 0)), limit)

    def words_containing(self, part: str, limit: int) -> list:
        """Words of live entries that hold ``part``, with their word_df, by falling word_df, then word."""
        check_limit(limit)
        return _first(_by_df(self._words(KB_WORDS_CONTAINING, part, "a part", 0)), limit)

    def words_near(self, word: str, distance: int, limit: int) -> list:
        """Words of live entries at 1 to ``distance`` edits that begin with the same code point.

        Returns:
            (word, distance, word_df), by distance, falling word_df, word.
        """
        utf8(word, "a word")
        check_distance(distance)
        check_limit(limit)
        near = self._words(KB_WORDS_NEAR, word, "a word", distance)
        found = [(other, edits, df) for other, (edits, df) in near.items()]
        return _first(sorted(found, key=_near_order), limit)

    def similar(self, stems, threshold: float, limit: int) -> list:
        """Live entries whose stems in title and body have a Jaccard index of ``threshold`` or more with ``stems``.

        Returns:
            (segment, entry, Jaccard index), by falling index, kbid, segment.
        """
        cdef kb_source *wanted = NULL
        cdef kb_likeness likeness
        # Mostly they ascend already, which a set would undo.
        distinct = sorted(dict.fromkeys(stems))
        try:
            wanted = <kb_source *>malloc((len(distinct) + <size_t>1) * sizeof(kb_source))
            if wanted == NULL:
                raise MemoryError()
            for i, stem in enumerate(distinct):
                _take_text(stem, "a stem", &wanted[i])
            check_threshold(threshold)
            check_limit(limit)
            likeness = kb_likeness(wanted, <uint32_t>len(distinct), threshold, KB_NONE, 0)
            return self._alike(&likeness, limit)
        finally:
            free(wanted)

    def similar_to(self, segment: int, entries, threshold: float, limit: int) -> list:
        """For each of some entries of a segment, what ``similar`` finds for its stems, itself left out.

        Reads all postings of the segment.
        """
        cdef Segment home
        cdef kb_bytes pairs
        cdef kb_source *stems = NULL
        cdef size_t *ends = NULL
        cdef bytes wanted
        cdef uint8_t *bits
        cdef uint32_t place
        cdef uint32_t number
        check_segment_number(segment, self._count)
        place = segment
        home = self._segments[place]
        wanted = bytes((home._segment.entries + 7) >> 3)
        bits = <uint8_t *>PyBytes_AS_STRING(wanted)
        for entry in entries:
            check_entry_number(entry, home._segment.entries)
            number = entry
            bits[number >> 3] |= 1 << (number & 7)
        check_threshold(threshold)
        check_limit(limit)
        memset(&pairs, 0, sizeof(pairs))
        try:
            self._read_stems(place, bits, &pairs)
            stems = <kb_source *>malloc((pairs.length // 8 + 1) * sizeof(kb_source))
            ends = <size_t *>calloc(<size_t>home._segment.entries + 2, sizeof(size_t))
            if stems == NULL or ends == NULL:
                raise MemoryError()
            self._deal(place, &pairs, stems, ends + 1)
            return [self._alike_entry(place, entry, stems, ends, threshold, limit) for entry in entries]
        finally:
            kb_bytes_free(&pairs)
            free(stems)
            free(ends)

    cdef int _read_stems(self, uint32_t place, const uint8_t *wanted, kb_bytes *pairs) except -1:
        """Puts the stems of the wanted entries into `pairs`, as kb_stems_of does."""
        cdef kb_error error
        cdef kb_status status
        error.segment = place
        with nogil:
            status = kb_stems_of(self._views[place].segment, wanted, pairs, &error)
        if status != KB_OK:
            raise self._failed(status, &error)
        return 0

    cdef int _deal(self, uint32_t place, const kb_bytes *pairs, kb_source *stems, size_t *ends) except -1:
        """Deals the stems of `pairs` out by entry; those of one entry go on ascending, and end at ends[entry]."""
        cdef const kb_segment *home = self._views[place].segment
        cdef kb_error error
        cdef kb_status status
        cdef uint32_t length = 0
        cdef uint32_t entry
        cdef size_t i
        cdef size_t count
        cdef size_t all = 0
        error.segment = place
        for i in range(0, pairs.length, 8):
            ends[kb_load_u32(pairs.data + i)] += 1
        for i in range(home.entries):
            count = ends[i]
            ends[i] = all
            all += count
        for i in range(0, pairs.length, 8):
            entry = kb_load_u32(pairs.data + i)
            status = kb_strings_get(&home.terms.stems, kb_load_u32(pairs.data + i + 4), &stems[ends[entry]].bytes,
                                    &length, &error)
            if status != KB_OK:
                raise self._failed(status, &error)
            stems[ends[entry]].length = length
            ends[entry] += 1
        return 0

    cdef list _alike_entry(self, uint32_t place, uint32_t entry, kb_source *stems, const size_t *ends, double least,
                           limit):
        cdef kb_likeness likeness
        likeness = kb_likeness(stems + ends[entry], <uint32_t>(ends[entry + 1] - ends[entry]), least, place, entry)
        return self._alike(&likeness, limit)

    cdef list _alike(self, const kb_likeness *wanted, limit):
        cdef _Scratch scratch
        cdef kb_hit *hits = NULL
        cdef uint32_t most = <uint32_t>min(limit, self._searcher.sections)
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef kb_error error
        cdef kb_status status
        scratch = _take_scratch(self._largest)
        try:
            hits = <kb_hit *>malloc((<size_t>most + 1) * sizeof(kb_hit))
            if hits == NULL:
                raise MemoryError()
            with nogil:
                status = kb_similar(&self._searcher, wanted, most, &scratch.scratch, hits, &count, &error)
            if status != KB_OK:
                raise self._failed(status, &error)
            return [(hits[i].segment, hits[i].entry, hits[i].score) for i in range(count)]
        finally:
            _give_back(scratch)
            free(hits)


cdef list _first(list items, limit):
    """The first `limit` items; the limit may be past any C integer."""
    return items if limit >= len(items) else items[:limit]


def _near_order(item):
    return item[1], -item[2], item[0]


cdef list _by_df(dict found):
    return sorted([(word, df) for word, (_, df) in found.items()], key=_df_order)


def _df_order(item):
    return -item[1], item[0]


cdef str _kbid_text(const uint8_t *kbid):
    """The 26 characters of a kbid: base 32, two zero bits at the end."""
    cdef char text[26]
    cdef uint32_t bits = 0
    cdef uint32_t held = 0
    cdef uint32_t at = 0
    cdef uint32_t i
    for i in range(KB_KBID_BYTES):
        bits = bits << 8 | kbid[i]
        held += 8
        while held >= 5:
            held -= 5
            text[at] = KBID_ALPHABET[bits >> held & 31]
            at += 1
    text[at] = KBID_ALPHABET[bits << (5 - held) & 31]
    return text[:26].decode("ascii")
