"""How many tokens a text costs a model, estimated so that it is hardly ever less than the truth (o200k).

A tokeniser would cost megabytes and a slow start. Texts are cut where o200k cuts them before it looks for tokens, and
each piece is given about what such pieces cost at most: letters by how usual their pairs are, so that prose is some
40 % over and random letters are not under; ideographs and syllables by whether an old national code has them. Random
letters of other alphabets may cost up to twice what is estimated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from math import ceil
from string import punctuation

_PIECE = re.compile(
    r"[a-z]+|[A-Z]+| ?[0-9]+|[\r\n]+[ \t]*| (?=[^ \t\r\n])|[ \t]+| ?[!-/:-@\[-`{-~]+[\r\n]*"
    r"|[\u0370-\u07ff]+|[\u0900-\u0eff]+|[\u3040-\u30ff]+|[\u4e00-\u9fff]+|[\uac00-\ud7a3]+|[^\x00-\x7f]|.",
    re.DOTALL,
)

_USUAL_AFTER = (
    "a:bcdgiklmnprstuvy b:aeilorsu c:acehiklortu d:aeiorsu e:acdefgilmnoprstvwx f:aefilo g:aehinoru h:aeio "
    "i:abcdefglmnoprstvz k:eis l:adeilostuy m:abeimopsu n:acdefginostuv o:abcdgilmnoprstuvw p:aehiloprtu q:u "
    "r:acdegilmnorstuvy s:acehiopstu t:aehilorstuy u:abcdegilmnprst v:aei w:aei x:p"
)
_USUAL = {group[0] + second for group in _USUAL_AFTER.split() for second in group[2:]}
"""The pairs that make up 93 % of those in English prose, of technical text for the most part."""

_SIGNS_AFTER = (
    r"""!:"'()*,-./:=?[\] ":!#$%&'()*+,-./:;<>?[\]_`{|} #:!"$+,./:[{ $:(,./:\_{ %:!"'(),-.;=@\^ &:#(),_ """
    r"""':"#$%()*+,-./:;<=>?[\]^_{} (:!"#$%&')*+-./:;<?@[\^_`{|~ ):!"#$%&'(*+,-./:;<=>?[\]^_`{|} """
    r"""*:!"$&(),-./:=>@[\_ +:"#$'(),-./:=[\] ,:!"#$%&'()*+-./:<@[\^_{ -:"$%&'()*,./=>[\_{| """
    r""".:!"#$%&'()*+,-/:;<=?@[\]^_`{|~ /:"#$%&'()*+,-.:<=>?@[\]^_{~ ::"#$%&'()*+,-./<=?@[\]^_`{ """
    r""";:"$%&'()+,-./<\} <:!#$&'(-/=>?[_{ =:!"#$%&'(*-./:<>?@[\_`{} >:"#$%&'()*,-./:;<=>?@[\]`{|} """
    r"""?:!"#$'(),-./:<>[\_| @:"$(:[\ [:"#$%'(*,-/:@\]^_`{ \:"$'(,-./:<[ ]:!"%&'()*+,-./:;<=>?[\^_{|} """
    r"""^:()-.[\{ _:"$%'()*,-./:;<=[\]^{| `:),.:;\]} {:"$%'-/:@\|} |:"'(-\ }:!"$%&'()+,-./:;<=>?@[\]_`{| """
    r"""~:,-/="""
)
_TOGETHER = {group[0] + second for group in _SIGNS_AFTER.split() for second in group[2:]}
"""The pairs of unlike signs that may be one token. Of three signs in a row that may, two are."""

_RULERS = dict.fromkeys("*-.=_", 1 / 8) | dict.fromkeys("$&@[\\]^`{}", 1 / 2)
_RULER = 1 / 4
"""What each further sign of a run of the same costs: rulers are long tokens, brackets two signs at most."""

_BEFORE_END = "!#%')*+-./:;=>?]_|}"
_ONE_BEFORE_END = punctuation.replace("^", "")
"""The signs that are one token with the end of their line, where there are several of them and where there is one."""

_KEPT = 50_000
_LONGEST_KEPT = 24
_HAN = ("gb2312", "big5", "shift_jis")


_QUOTE = 0.7
_MORE_SPACE = 0.4
_APART = {
    pair: 0.3 for sign in punctuation for pair in (f'"{sign}', f'{sign}"') if sign != '"' and pair not in _TOGETHER
}
"""What a quote costs more beside a sign that it is no token with."""


class _Costs(dict[str, float]):
    """What bits of text cost; those that are met again are looked up."""

    def __init__(self, cost: Callable[[str], float]) -> None:
        super().__init__()
        self._cost = cost

    def __missing__(self, bit: str) -> float:
        cost = self._cost(bit)
        if len(bit) <= _LONGEST_KEPT:
            if len(self) >= _KEPT:
                self.clear()
            self[bit] = cost
        return cost


def estimate(text: str) -> int:
    """About how many tokens a text costs at most."""
    # Quotes hold the names of JSON, and spaces words: most of what is between them was met before.
    quoted = text.split('"')
    return ceil(sum(map(_quoted.__getitem__, quoted)) + (len(quoted) - 1) * _QUOTE)


def fits(text: str, tokens: int) -> bool:
    """Whether a text costs no more; a token is a byte at least, so that short ones are not looked at."""
    return len(text) * (1 if text.isascii() else 4) <= tokens or estimate(text) <= tokens


def beginning(text: str, tokens: int) -> int:
    """About the length of the longest beginning, in whole pieces, that costs no more; a piece too long is cut."""
    left = float(tokens)
    for found in _PIECE.finditer(text):
        left -= _pieces[found[0]]
        if left < 0:
            if found.start() == 0:
                return max(1, int(len(found[0]) * tokens / (tokens - left)))
            return found.start()
    return len(text)


def _cost_of_quoted(bit: str) -> float:
    if not bit:
        return 0
    first, *words = bit.split(" ")
    apart = _APART.get('"' + bit[0], 0) + _APART.get(bit[-1] + '"', 0)
    return _cost_of_pieces(first) + sum(map(_words.__getitem__, words)) + apart


def _cost_of_word(word: str) -> float:
    """What a word costs, and the space before it."""
    return _cost_of_pieces(f" {word}") if word else _MORE_SPACE


def _cost_of_pieces(text: str) -> float:
    return sum(map(_pieces.__getitem__, _PIECE.findall(text)))


def _cost(piece: str) -> float:
    first, length = piece[0], len(piece)
    if first.isascii() and first.isalpha():
        return _word(piece, length)
    if piece.lstrip(" ").isdigit() and piece.isascii():
        # Three digits a token; a space before them is one more.
        return (length + 2) // 3 if first != " " else (length + 1) // 3 + 1
    if piece == " ":
        return 0.05
    if first in " \t\r\n":
        return 1 + length // 12 if len(set(piece)) <= 2 else length
    if first < "\x80":
        signs = piece.strip(" \r\n")
        ends_apart = piece[-1] in "\r\n" and signs[-1] not in (_BEFORE_END if len(signs) > 1 else _ONE_BEFORE_END)
        return _signs(signs) + ends_apart
    return _foreign(piece, first, length)


def _word(piece: str, length: int) -> float:
    """Letters of one case. A capital is mostly followed by the rest of its word."""
    if length == 1:
        return 0.75 if piece < "a" else 1.05
    small = piece.lower()
    unusual = sum(small[place : place + 2] not in _USUAL for place in range(length - 1))
    if piece < "a":
        return 1 + (length - 2) * 0.35 + unusual * 0.33
    return 1 + max(0, length - 4) * 0.15 + unusual * 0.7


def _signs(signs: str) -> float:
    if len(set(signs)) == 1:
        return 1 if len(signs) == 1 else 1.3 + (len(signs) - 2) * _RULERS.get(signs[0], _RULER)
    apart = sum(one != other and one + other not in _TOGETHER for one, other in pairwise(signs))
    return 1 + (len(signs) - 1) * 0.7 + apart * 0.3


def _foreign(piece: str, first: str, length: int) -> float:
    if "\u4e00" <= first <= "\u9fff":
        rare = min(length - len(piece.encode(code, "ignore")) // 2 for code in _HAN)
        return length * 1.05 + rare * 2.4
    if "\uac00" <= first <= "\ud7a3":
        # What the code has no sign of its own for is spelled in eight bytes there.
        rare = (len(piece.encode("euc_kr", "replace")) - 2 * length) // 6
        return length + rare * 1.9
    if "\u3040" <= first <= "\u30ff":
        return length * 0.7 + 0.3
    if "\u0370" <= first <= "\u07ff":
        return length * 0.45 + 0.9
    if "\u0900" <= first <= "\u0eff":
        return length * 1.0 + 0.5
    size = len(piece.encode("utf-8", "surrogatepass"))
    return size * 0.55 + 0.3 if first < "\u0250" else size


_pieces, _words, _quoted = _Costs(_cost), _Costs(_cost_of_word), _Costs(_cost_of_quoted)
