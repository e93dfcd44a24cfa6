"""What any report may state besides: common facts, cues, asides and the parts of names."""

from __future__ import annotations

from listwright.lab.simulate._corpus_forms import fact

COMMON_FACTS = (
    fact(
        0.6,
        "parliament will [debate|discuss] the matter on {day:debate}",
        "a special session of parliament was [called|set] for {day:debate}",
    ),
    fact(
        0.55,
        "an inquiry led by {person:inquiry} [began|was opened]",
        "{person:inquiry} will lead an [independent|official] inquiry that is to report in {month:inquiry}",
    ),
    fact(
        0.5,
        "{place:neighbour} [offered|promised] help",
        "the government of {place:neighbour} [offered|promised] help and sent {tens:helpers} specialists",
    ),
    fact(
        0.45,
        "{person:premier} [visited|travelled to] {place:site}",
        "the prime minister, {person:premier}, [visited|travelled to] {place:site} on {day:visit}",
        "{person:premier} [met|spoke with] families in {place:site} and [praised|thanked] the staff there",
    ),
    fact(
        0.4,
        "a new law is [planned|expected] by {month:law}",
        "ministers [want|intend] to pass a new law by {month:law}",
    ),
    fact(
        0.35,
        "a poll [found|showed] that {percent:poll} percent were not satisfied with the government",
        "{percent:poll} percent of those asked in a poll [blamed|were unhappy with] the government",
    ),
    fact(
        0.3,
        "{thousands:crowd} people [marched|gathered] in {place:capital}",
        "about {thousands:crowd} people [marched|gathered] in the centre of {place:capital} on {day:march}",
    ),
    fact(
        0.3,
        "the opposition [called for|demanded] new rules",
        "{person:opposition} of the opposition [called for|demanded] new rules and an apology",
    ),
    fact(
        0.2,
        "a [similar|comparable] case in {year:before} had few results",
        "people [still remember|often recall] a [similar|comparable] case in {year:before}",
    ),
    fact(
        0.15,
        "{place:capital} lies {hundreds:far} km from the [sea|coast]",
        "{place:capital}, where {hundreds:people} thousand people live, is {hundreds:far} km from the [sea|coast]",
    ),
    fact(
        0.15,
        "the <weekly|regional> paper {firm:paper} first reported the story",
        "the story was first [reported|told] by {firm:paper}, a <weekly|regional> paper",
    ),
    fact(
        0.1,
        "the [agency|office] publishes its figures every {day:figures}",
        "figures are [published|released] every {day:figures} by the [agency|statistics office] in {place:capital}",
    ),
)

# Asides: stated by one report only. {word} is one of the event's own words, {name} and {spot} are new each time.
ASIDES = (
    "{name}, who [runs|owns] a shop in {spot}, said business had been [slow|poor] for [weeks|months]",
    "the road to {spot} was [quiet|empty] on {weekday} morning",
    "a [choir|band] from {spot} played in the square while people [waited|talked]",
    "{name} [recalled|remembered] how a grandfather used to speak of the old [mill|station] there",
    "many in {spot} have their own view of the {word}, and few of them [agree|are alike]",
    "it is the season of [apples|plums] in {spot}, and trucks full of fruit pass every hour",
    "[children|neighbours] [drew|wrote] the word {word} on a wall in {spot}",
    "the [hotel|cafe] near the bridge was full of reporters, and its owner, {name}, ran out of [coffee|bread]",
    "a [spokesman|spokeswoman] did not return calls on {weekday}",
    "[nobody|hardly anyone] in {spot} had [slept|eaten] well, {name} said",
    "the {word} was the only [subject|topic] on the radio, between songs and [football|the weather]",
    "{name} held up an old photograph and [shook|nodded] her head",
    "experts on the {word} [differ|disagree], and {name} of the university of {spot} would not [guess|comment]",
    "on {weekday} the sky over {spot} was [clear|grey] and a light wind [blew|came] from the east",
    "the [museum|library] of {spot} has a room about the {word}, with [maps|letters] from another century",
    "[books|songs] have been written about less, {name} joked, [before leaving|and went home]",
    "some [residents|visitors] asked what the {word} would mean for [prices|tourism] next year",
    "the [mayor|priest] of {spot}, {name}, said a few [words|prayers] and left early",
    "a dog called [Max|Bella] [slept|barked] through it all in front of the town hall of {spot}",
    '"We [have|had] never thought much about the {word}," said {name}, [who lives|who grew up] in {spot}',
    '"You [see|hear] things like that and you go on with your work," {name} said on {weekday}',
    '"It is [hard|strange]," said {name} in {spot}, "but we [will manage|are used to it]"',
    "he [sold|repaired] bicycles in {spot} before he took up politics, {name} told visitors",
    "what happens next with the {word} is anyone's guess, [wrote|said] {name} in a column",
)

# What opens and closes a statement; the first group goes with weighty facts, the second with slight ones.
WEIGHTY_OPENINGS = (
    "officials confirmed that ",
    "the government said on {weekday} that ",
    "it is now certain that ",
    "for the first time officials said that ",
)
SLIGHT_OPENINGS = (
    "it was also said that ",
    "in passing, reports noted that ",
    "according to one account ",
    "some say that ",
)
PLAIN_OPENINGS = ("meanwhile, ", "in addition, ", "later, ", "as was known before, ", "on {weekday}, ")
CLOSINGS = (
    ", {name} said",
    ", local radio reported on {weekday}",
    ", according to people who [know|follow] the matter and did not want to be named",
    ", and few had [expected|foreseen] it when the week began",
    ", as had been [feared|rumoured] for days in {spot} and elsewhere",
)

LINKS = (", and ", ", while ", "; ")

FIRST_NAMES = "Ana Boris Clara Dario Elena Felix Greta Hamid Irene Jonas Katya Luis Marta Nadim Olga Pavel Rosa Tamar"
SYLLABLES = "bar cor dal fen gor hal kar lin mar nor pel ros san tor vel wen zar mon dra bri"
PLACE_ENDINGS = "ia ovo stad burg mouth een ana ford ino ale"
SURNAME_ENDINGS = "ez ov son er ini ak and ell is u"
FIRM_ENDINGS = "ex tec on ora um co"
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
MONTHS = "January February March April May June July August September October November December"
