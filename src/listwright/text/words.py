"""Short word lists that the text features use."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a line of text as a set."""
    return frozenset(words.split())


PRONOUNS = word_set(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself they them their theirs themselves"
)

FUNCTION_WORDS = PRONOUNS | word_set(
    "a an the this that these those it its itself and or but nor so yet if then else than as because while when where "
    "who whom whose which what how why of in on at by for from to into onto over under up down out off with without "
    "within through during before after between among against about above below across along around near since until "
    "is am are was were be been being do does did done doing has have had having will would shall should can could may "
    "might must not no only just also very too more most some any all each every both few many much other such own "
    "same there here again once further s t d m re ve ll don didn doesn isn wasn weren won"
)
