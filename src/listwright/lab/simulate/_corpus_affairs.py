"""What reports on elections, mergers, strikes and space missions state. Forms are written as for accidents."""

from __future__ import annotations

from listwright.lab.simulate._corpus_forms import Event, fact

ELECTION = Event(
    title="Election in {place:land}",
    words=("vote", "election", "party", "ballot"),
    facts=(
        fact(
            0.95,
            "{person:winner} [won|took] the presidential election in {place:land}",
            "voters in {place:land} [elected|chose] {person:winner} as president on {day:event}",
            "{person:winner} was [declared|named] the winner of the presidential election in {place:land}",
        ),
        fact(
            0.85,
            "{person:winner} got {percent:share} percent of the vote",
            "with nearly all ballots counted, {person:winner} [had|held] {percent:share} percent of the vote",
            "the final count [gave|put] {person:winner} at {percent:share} percent",
        ),
        fact(
            0.75,
            "{person:loser} [conceded|accepted] defeat",
            "{person:loser}, in office since {year:office}, [conceded|accepted] defeat in a [short|brief] speech",
            "the sitting president, {person:loser}, [admitted|accepted] defeat and asked supporters to stay calm",
        ),
        fact(
            0.65,
            "observers [reported|found] fraud in {tens:stations} polling stations",
            "foreign observers [saw|reported] stuffed ballot boxes in {tens:stations} polling stations",
            "fraud was [reported|found] by observers in {tens:stations} polling stations in {place:region}",
        ),
        fact(
            0.6,
            "the new president promised to <cut taxes|fight graft>",
            "in a first speech the new president [promised|vowed] to <cut taxes|fight graft> and to raise pensions",
        ),
        fact(
            0.5,
            "turnout was {percent:turnout} percent",
            "turnout [was|reached] {percent:turnout} percent, the <lowest|highest> in <two|three> decades",
        ),
        fact(
            0.45,
            "{person:winner} must [form|build] a coalition in parliament",
            "without a majority the winner must [form|build] a coalition with {few:parties} small parties",
        ),
        fact(
            0.3,
            "{few:clash} people were <hurt|arrested> in clashes",
            "{few:clash} people were <hurt|arrested> when rival crowds [met|clashed] in {place:town}",
        ),
        fact(
            0.25,
            "{person:winner} was once a <judge|teacher> in {place:second}",
            "{person:winner}, a former <judge|teacher>, was born in {place:second} in {year:born}",
        ),
        fact(
            0.4,
            "the currency [rose|gained] {few:gain} percent",
            "markets [cheered|welcomed] the result and the currency [rose|gained] {few:gain} percent",
        ),
    ),
)

MERGER = Event(
    title="{firm:buyer} to buy {firm:target}",
    words=("deal", "shares", "company", "market"),
    facts=(
        fact(
            0.95,
            "{firm:buyer} [agreed to buy|will buy] {firm:target} for ${millions:price} million",
            "{firm:buyer} [said|announced] on {day:event} that it will buy {firm:target} for ${millions:price} million",
            "in a deal worth ${millions:price} million, {firm:target} [will be bought|is taken over] by {firm:buyer}",
        ),
        fact(
            0.8,
            "the merged company will [employ|have] {thousands:staff} people",
            "the two companies [employ|have] {thousands:staff} people in {few:countries} countries",
            "together they will [form|become] a group with {thousands:staff} employees",
        ),
        fact(
            0.75,
            "{hundreds:cuts} jobs will be [cut|lost]",
            "up to {hundreds:cuts} jobs will [go|be cut], most of them at the offices in {place:town}",
            "unions [fear|expect] the loss of {hundreds:cuts} jobs",
        ),
        fact(
            0.65,
            "regulators must [approve|clear] the deal",
            "the deal must be [approved|cleared] by regulators, who [worry|are concerned] about prices",
            "regulators said they would [examine|review] the deal until {month:review}",
        ),
        fact(
            0.6,
            "shares of {firm:target} [rose|jumped] {percent:jump} percent",
            "shares of {firm:target} [rose|jumped] {percent:jump} percent, while those of {firm:buyer} fell",
        ),
        fact(
            0.5,
            "{person:chief} will [lead|head] the new group",
            "{person:chief}, who runs {firm:buyer}, will [lead|head] the new group from {place:second}",
        ),
        fact(
            0.4,
            "a rival bid by {firm:rival} [failed|was rejected]",
            "{firm:rival} had [offered|bid] less, and its bid was [refused|rejected] in {month:bid}",
        ),
        fact(
            0.35,
            "the deal is [paid|financed] with bank loans",
            "banks will [lend|provide] ${millions:loan} million of the price",
        ),
        fact(
            0.25,
            "{firm:target} was founded in {year:founded}",
            "{firm:target}, founded in {year:founded} by the family of {person:founder}, makes <pumps|turbines>",
        ),
        fact(
            0.45,
            "savings of ${tens:save} million a year are [planned|expected]",
            "the companies [plan|expect] to save ${tens:save} million a year through shared <purchasing|research>",
        ),
    ),
)

STRIKE = Event(
    title="Strike at the ports of {place:land}",
    words=("strike", "port", "union", "dockers"),
    facts=(
        fact(
            0.95,
            "{thousands:workers} dock workers went on strike in {place:land}",
            "a strike by {thousands:workers} dock workers [shut|closed] the ports of {place:land} on {day:event}",
            "dock workers in {place:land} [walked out|stopped work], closing {few:ports} ports",
        ),
        fact(
            0.85,
            "the union [demands|wants] {few:raise} percent more pay",
            "the union [demands|wants] a pay rise of {few:raise} percent and <safer|shorter> shifts",
            "pay rose too little, says the union, which [asks for|demands] {few:raise} percent more",
        ),
        fact(
            0.75,
            "talks [broke down|failed] on {day:talks}",
            "talks between the union and the port owners [broke down|failed] on {day:talks} after {tens:hours} hours",
            "the [last|latest] round of talks ended without a [deal|result] on {day:talks}",
        ),
        fact(
            0.65,
            "the strike [costs|is costing] ${millions:cost} million a day",
            "exporters [lose|are losing] ${millions:cost} million a day, a trade group [said|estimated]",
            "each day of the strike [costs|takes] ${millions:cost} million from trade",
        ),
        fact(
            0.55,
            "{tens:ships} ships are [waiting|stuck] at sea",
            "{tens:ships} ships with <fruit|grain> and fuel are [waiting|stuck] off {place:town}",
        ),
        fact(
            0.6,
            "a court will [rule|decide] on the strike on {day:court}",
            "the government asked a court to [end|ban] the strike, and a ruling is due on {day:court}",
        ),
        fact(
            0.45,
            "factories in {place:town} [stopped|slowed] work for lack of parts",
            "a car factory in {place:town} sent {hundreds:idle} workers home because parts [ran out|were missing]",
        ),
        fact(
            0.3,
            "truck drivers [joined|backed] the strike",
            "truck drivers [joined|backed] the strike and [blocked|slowed] the road to {place:second}",
        ),
        fact(
            0.25,
            "the last port strike was in {year:last}",
            "the last strike at the ports, in {year:last}, [went on|lasted] {tens:lasted} days",
        ),
        fact(
            0.4,
            "petrol was [rationed|short] in the north",
            "petrol was [rationed|scarce] in the north, where {hundreds:stations} stations [ran dry|closed]",
        ),
    ),
)

MISSION = Event(
    title="The {firm:craft} mission to the moon",
    words=("moon", "craft", "mission", "launch"),
    facts=(
        fact(
            0.95,
            "the {firm:craft} probe [landed|touched down] on the moon",
            "the {firm:craft} probe [landed|touched down] on the far side of the moon on {day:event}",
            "after a flight of {tens:days} days the {firm:craft} probe [reached|landed on] the moon",
        ),
        fact(
            0.85,
            "it will [look|search] for ice in the {place:crater} crater",
            "its task is to [look|search] for ice in the {place:crater} crater with a <drill|radar>",
            "scientists hope to [find|detect] ice in the {place:crater} crater",
        ),
        fact(
            0.7,
            "one of two solar panels did not [open|unfold]",
            "a solar panel [failed to open|stayed folded], which [cut|halved] the power on board",
            "engineers [worked|struggled] to open a solar panel that [jammed|stuck] during the descent",
        ),
        fact(
            0.65,
            "the first [images|pictures] reached {place:town} after {few:hours} hours",
            "the control centre in {place:town} [received|showed] the first [images|pictures] of grey dust and rocks",
        ),
        fact(
            0.55,
            "the mission [cost|has cost] ${millions:cost} million",
            "at ${millions:cost} million the mission is <cheaper|dearer> than planned",
        ),
        fact(
            0.6,
            "it is the first such landing [by|for] {place:land}",
            "with this landing {place:land} [becomes|is now] one of few countries to have reached the moon",
        ),
        fact(
            0.45,
            "a rover of {tens:weight} kilograms will [drive|roll] out on {day:rover}",
            "on {day:rover} a rover that weighs {tens:weight} kilograms is to [drive|roll] down a ramp",
        ),
        fact(
            0.35,
            "an earlier probe [crashed|was lost] in {year:crash}",
            "an earlier attempt ended in {year:crash} when the probe [crashed|went silent]",
        ),
        fact(
            0.25,
            "{person:lead} has led the team since {year:lead}",
            "{person:lead}, a <physicist|pilot> from {place:second}, has led the team since {year:lead}",
        ),
        fact(
            0.4,
            "the batteries should last {tens:life} days",
            "the batteries should last {tens:life} days, <twice|half> as long as the <old|first> ones",
        ),
    ),
)

AFFAIRS = (ELECTION, MERGER, STRIKE, MISSION)
