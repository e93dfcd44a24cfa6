"""Splits text into sentences by rules that suit news, reports and papers in English."""

from __future__ import annotations

import re

from listwright._internal.tokens import word_set

# Curly quotes and the full-width marks are written as escapes because they look like plain ones.
_CLOSING = "\"')\\]\u2019\u201d\u00bb"
_OPENING = "\"'`([<- \u2018\u201c\u00ab\u2013\u2014"
_WIDE_MARKS = "\u3002\uff01\uff1f\u0964\u061f"
_END = re.compile(rf"(?:(?<![.!?…])[.!?…]++(?:''|[{_CLOSING}])*+(?=\s)|[{_WIDE_MARKS}]++[」』{_CLOSING}]*+)\s*")
# How far a decision looks back and ahead: keeps the work linear in the length of the text.
_VIEW = 80
_BREAK = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]{2,}\S|\t\S|[ \t]*[-*•][ \t])")
_LAST_WORD = re.compile(r"[\w.&-]+$")
_FIRST_WORD = re.compile(r"\w+")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?|Ph\.D")

# Never the end of a sentence: something always follows.
_TITLES = word_set(
    "Mr Mrs Ms Dr Prof Gen Sen Rep Gov Lt Col Sgt Cpl Capt Cmdr Adm Maj Rev Hon Pres Supt Insp Det Pvt Messrs Mme Mlle "
    "St Mt Ft e.g i.e cf E.g I.e Cf vs viz approx resp ca esp incl"
)
# Not the end when a number, a bracket or a label follows.
_POINTERS = word_set(
    "fig figs eq eqs eqn eqns sec sect secs tab tbl no nos vol vols pp p ch chap art app ref refs def thm prop cor "
    "lem ex alg par jan feb mar apr jun jul aug sep sept oct nov dec al"
)
# The end only when the next word is one that often starts a sentence.
_DOUBTFUL = word_set(
    "Inc Corp Co Ltd LLC Plc Bros Jr Sr Dept Univ Assn Ave Blvd Rd Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan "
    "Ky La Mass Md Mich Minn Miss Mo Mont Neb Nev Okla Ore Pa Tenn Tex Va Vt Wash Wis Wyo Jan Feb Mar Apr Jun Jul Aug "
    "Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun etc dept"
)
_LABELS = _POINTERS - word_set("no al jan feb mar apr jun jul aug sep sept oct nov dec art app par")
_STARTERS = word_set(
    "the a an this that these those it he she we they i you his her its our their there here in on at by for from with "
    "but and or so yet if when while as after before since although though because however moreover meanwhile "
    "nevertheless then thus hence also both many most some several one two no not what who why how where which all "
    "another each every to among under during according despite officials police"
)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, in order, with inner white space made single.

    A blank line, an indented line or a bullet starts a new sentence; a plain line break does not.

    Parameters
    ----------
    text : str
        Plain text. Work is linear in its length.

    Returns
    -------
    list of str
        Sentences without surrounding white space; empty for a blank text.

    See Also
    --------
    tokens : Splits a sentence into tokens.

    Examples
    --------
    >>> split_sentences('Dr. J. Ray of the U.S. team saw 3.5 (Fig. 2). "Why?" she asked.')
    ['Dr. J. Ray of the U.S. team saw 3.5 (Fig. 2).', '"Why?" she asked.']
    """
    paragraphs = _BREAK.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    return [sentence for paragraph in paragraphs for sentence in _split_paragraph(" ".join(paragraph.split()))]


def _split_paragraph(text: str) -> list[str]:
    sentences, start = [], 0
    for end in _END.finditer(text):
        before = text[max(start, end.start() - _VIEW) : end.start()]
        if end.end() < len(text) and _is_boundary(before, end.group(), text[end.end() : end.end() + _VIEW]):
            sentences.append(text[start : end.end()].rstrip())
            start = end.end()
    rest = text[start:].strip()
    return [*sentences, rest] if rest else sentences


def _is_boundary(before: str, mark: str, after: str) -> bool:
    """Return whether a sentence ends at `mark`, given up to 80 characters on either side."""
    # A lower-case letter never starts a sentence; a full stop may belong to an abbreviation; dots of omission only end
    # a sentence before an upper-case letter.
    first = after.lstrip(_OPENING)[:1]
    if not first or first.islower():
        return False
    if mark.strip() != ".":
        return not (mark.startswith("...") and not first.isupper())
    return _stop_ends_sentence(before, after)


def _stop_ends_sentence(before: str, after: str) -> bool:
    """Return whether a full stop ends a sentence, by the word before it, such as a title or a pointer ("Fig.")."""
    match = _LAST_WORD.search(before)
    word = match.group().lstrip(".-&") if match else ""
    numbers_entry = before.strip() == word and (word.isdigit() or len(word) == 1)  # as in "1." or "A."
    if numbers_entry or word in _TITLES:
        return False
    if word.lower() in _POINTERS and _points_on(word.lower(), after):
        return False
    if word in _DOUBTFUL or _is_initials(word):
        return _starts_sentence(after)
    return True


def _is_initials(word: str) -> bool:
    """Return whether a word is an initial or several, as in "J", "U.S" or "Ph.D"."""
    return (len(word) == 1 and word.isalpha() and word.isupper()) or bool(_INITIALS.fullmatch(word))


def _points_on(lower: str, after: str) -> bool:
    """Return whether the abbreviation takes what follows along: "Fig. 3", "Fig."""
    if after[:1].isdigit() or (lower != "no" and after[:1] in "(["):
        return True
    return lower in _LABELS and re.match(r"[A-Z](?![a-z])", after) is not None


def _starts_sentence(after: str) -> bool:
    if after[:1] in '"`\u201c':
        return True
    match = _FIRST_WORD.match(after.lstrip(_OPENING))
    return match is not None and match.group().lower() in _STARTERS
