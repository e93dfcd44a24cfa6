"""What reports on floods, fires, train crashes and outbreaks state.

A form is a clause. `[a|b]` stands for one of the words, `<a|b>` for one that the whole cluster keeps, `{kind:key}`
for a value that the whole cluster shares.
The first form of a fact is the short one that summaries favour.
"""

from __future__ import annotations

from listwright.lab.simulate._corpus_forms import Event, fact

FLOOD = Event(
    title="Floods in {place:region}",
    words=("flood", "water", "river", "rain"),
    facts=(
        fact(
            0.95,
            "floods [killed|took the lives of] {tens:dead} people in {place:region}",
            "[at least|a total of] {tens:dead} people [died|were killed] in floods that [swept|hit] {place:region}",
            "the [death toll|number of dead] from the floods in {place:region} [reached|rose to] {tens:dead}",
        ),
        fact(
            0.85,
            "the {place:river} river burst its banks after <five|six> days of rain",
            "<five|six> days of [heavy|steady] rain made the {place:river} river [overflow|burst its banks]",
            "the {place:river} river [rose|climbed] to its highest level after days of [heavy|steady] rain",
        ),
        fact(
            0.8,
            "{thousands:moved} people [were evacuated|left their homes]",
            "rescue crews [moved|evacuated] {thousands:moved} people to [schools and churches|higher ground]",
            "about {thousands:moved} residents [fled|were evacuated from] low streets in {place:town}",
        ),
        fact(
            0.65,
            "a <dam|dike> above {place:town} [failed|gave way] on {day:break} night",
            "water [poured|rushed] into {place:town} when a <dam|dike> above it [failed|gave way] on {day:break} night",
            "engineers [lost|gave up] the fight to hold the <dam|dike> above {place:town} on {day:break}",
        ),
        fact(
            0.55,
            "the government [promised|pledged] ${millions:aid} million in [aid|relief]",
            "[aid|relief] worth ${millions:aid} million was [promised|pledged] by the government",
            "{person:minister} announced a [relief|rebuilding] fund of ${millions:aid} million",
        ),
        fact(
            0.45,
            "farmers lost {thousands:crops} hectares of <wheat|maize>",
            "{thousands:crops} hectares of <wheat|maize> lie under water and farmers [fear|expect] a poor harvest",
            "the harvest [is lost|is ruined] on {thousands:crops} hectares, a farmers' union [said|estimated]",
        ),
        fact(
            0.4,
            "drinking water [ran short|was unsafe] in {place:second}",
            "people in {place:second} [queued|waited] for drinking water after the [pumps|wells] were spoiled",
            "health workers [warned|told] families in {place:second} to boil drinking water",
        ),
        fact(
            0.3,
            "soldiers [laid|filled] {thousands:bags} sandbags",
            "{hundreds:soldiers} soldiers [laid|filled] {thousands:bags} sandbags along the [quay|embankment]",
        ),
        fact(
            0.25,
            "{hundreds:cattle} cattle [drowned|were lost]",
            "owners counted {hundreds:cattle} [cattle|cows] that had [drowned|been swept away]",
        ),
        fact(
            0.6,
            "more rain is [forecast|expected] for {day:more}",
            "forecasters [expect|predict] more rain on {day:more} and a second [crest|wave] of high water",
        ),
    ),
)

FIRE = Event(
    title="Fire at the {firm:owner} plant in {place:town}",
    words=("fire", "smoke", "plant", "flames"),
    facts=(
        fact(
            0.95,
            "a fire [destroyed|gutted] the {firm:owner} plant in {place:town}",
            "fire [swept through|ripped through] a plant of {firm:owner} in {place:town} on {day:event}",
            "flames [destroyed|gutted] the main hall of the {firm:owner} plant at {place:town}",
        ),
        fact(
            0.9,
            "{few:dead} workers [were killed|died] and {tens:hurt} were hurt",
            "{few:dead} workers [were found dead|lost their lives] in the [ruins|main hall], and {tens:hurt} were hurt",
            "the [number of dead|death toll] stood at {few:dead}, with {tens:hurt} [workers|people] in hospital",
        ),
        fact(
            0.75,
            "<a gas leak|a faulty valve> is [believed|thought] to have caused the blast",
            "the blast was [probably|most likely] caused by <a gas leak|a faulty valve> near the boilers",
            "investigators [suspect|point to] <a gas leak|a faulty valve> as the cause of the blast",
        ),
        fact(
            0.65,
            "inspectors had [warned|fined] the company in {year:warning}",
            "the company was [warned|fined] by inspectors in {year:warning} over <blocked exits|missing alarms>",
            "a report of {year:warning} had [listed|criticised] <blocked exits|missing alarms> at the plant",
        ),
        fact(
            0.55,
            "{hundreds:homes} homes were [cleared|evacuated] because of toxic smoke",
            "toxic smoke [forced|drove] families from {hundreds:homes} homes",
            "police [cleared|evacuated] {hundreds:homes} homes as [toxic|thick] smoke drifted over the town",
        ),
        fact(
            0.5,
            "[{hundreds:jobs}|about {hundreds:jobs}] jobs are at risk",
            "the future of {hundreds:jobs} jobs at the plant is [unclear|at risk]",
            "{firm:owner} could not say whether {hundreds:jobs} workers would [keep their jobs|be paid]",
        ),
        fact(
            0.45,
            "prosecutors opened <an inquiry|a criminal case> against two managers",
            "two managers [were questioned|were detained] as prosecutors opened <an inquiry|a criminal case>",
        ),
        fact(
            0.3,
            "{tens:crews} fire crews [fought|battled] the flames for {few:hours} hours",
            "it took {tens:crews} fire crews {few:hours} hours to [put out|control] the flames",
        ),
        fact(
            0.25,
            "the plant made <paint|solvents> for <export|shipyards>",
            "{firm:owner} has made <paint|solvents> for <export|shipyards> at the site since {year:founded}",
        ),
        fact(
            0.4,
            "the loss is [put|estimated] at ${millions:loss} million",
            "insurers [put|estimated] the loss at ${millions:loss} million",
        ),
    ),
)

CRASH = Event(
    title="Train crash near {place:town}",
    words=("train", "rail", "track", "carriage"),
    facts=(
        fact(
            0.95,
            "two trains [collided|crashed] near {place:town}",
            "a passenger train [collided with|ran into] a freight train near {place:town} on {day:event}",
            "two trains [hit each other|crashed head-on] on a single track [near|outside] {place:town}",
        ),
        fact(
            0.9,
            "{tens:dead} people [died|were killed] and {hundreds:hurt} were injured",
            "[at least|a total of] {tens:dead} passengers [died|were killed] and {hundreds:hurt} were injured",
            "the crash left {tens:dead} dead and {hundreds:hurt} injured",
        ),
        fact(
            0.75,
            "the driver [passed|missed] a red signal",
            "recorders [show|suggest] that the driver of the passenger train [passed|missed] a red signal",
            "a red signal was [passed|missed] shortly before the crash, [investigators|the rail office] found",
        ),
        fact(
            0.65,
            "the line had no automatic [brakes|train control]",
            "automatic [brakes|train control] had never been installed on the line, although it was [promised|planned]",
            "a plan to fit automatic train control on the line was [dropped|delayed] in {year:plan}",
        ),
        fact(
            0.5,
            "the line will stay [closed|shut] for {few:weeks} weeks",
            "trains will not run for {few:weeks} weeks while {hundreds:metres} metres of track are [replaced|repaired]",
        ),
        fact(
            0.45,
            "unions [blamed|pointed to] long shifts",
            "a drivers' union [blamed|pointed to] shifts of {tens:shift} hours and a lack of staff",
        ),
        fact(
            0.55,
            "the head of the railway, {person:head}, [resigned|stepped down]",
            "{person:head}, head of the state railway, [resigned|stepped down] on {day:resign}",
        ),
        fact(
            0.3,
            "cranes [lifted|removed] {few:cars} carriages",
            "{few:cars} carriages were [lifted|removed] by cranes brought from {place:second}",
        ),
        fact(
            0.25,
            "the passenger train had left {place:second} at <dawn|noon>",
            "the passenger train, bound for {place:third}, had left {place:second} at <dawn|noon>",
        ),
        fact(
            0.35,
            "families will [get|receive] ${thousands:pay} each",
            "the railway offered ${thousands:pay} to each family of the [dead|victims]",
        ),
    ),
)

OUTBREAK = Event(
    title="Fever outbreak in {place:region}",
    words=("fever", "patients", "clinic", "disease"),
    facts=(
        fact(
            0.95,
            "a fever outbreak [killed|claimed] {tens:dead} people in {place:region}",
            "{tens:dead} people have [died|lost their lives] in an outbreak of fever in {place:region}",
            "doctors in {place:region} [counted|reported] {tens:dead} deaths from the fever",
        ),
        fact(
            0.85,
            "{hundreds:cases} cases were [reported|confirmed]",
            "health workers [reported|confirmed] {hundreds:cases} cases in {few:districts} districts",
            "the number of cases [rose|climbed] to {hundreds:cases}",
        ),
        fact(
            0.7,
            "tests [traced|linked] the disease to wells in {place:town}",
            "laboratory tests [traced|linked] the disease to spoiled wells in {place:town}",
            "spoiled wells in {place:town} were the [source|origin] of the disease, tests [showed|found]",
        ),
        fact(
            0.65,
            "a vaccine [campaign|drive] will reach {thousands:doses} children",
            "{thousands:doses} children will be given a vaccine in a [campaign|drive] that starts on {day:start}",
            "a [campaign|drive] to vaccinate {thousands:doses} children was [announced|approved]",
        ),
        fact(
            0.55,
            "the border with {place:land} was [closed|shut]",
            "{place:land} [closed|shut] its border and [stopped|turned back] buses from {place:region}",
        ),
        fact(
            0.5,
            "hospitals lack <beds|drugs> and nurses",
            "hospitals are [full|crowded] and lack <beds|drugs> and nurses, {person:doctor} [said|warned]",
        ),
        fact(
            0.4,
            "schools and markets [closed|were shut]",
            "all schools and markets in {place:town} were [closed|shut] until {day:open}",
        ),
        fact(
            0.3,
            "{tens:experts} foreign [doctors|experts] arrived",
            "a team of {tens:experts} foreign [doctors|experts] arrived with {few:tons} tons of supplies",
        ),
        fact(
            0.25,
            "the first patient was a <trader|herdsman> from {place:second}",
            "the disease was first seen in a <trader|herdsman> from {place:second} in {month:first}",
        ),
        fact(
            0.45,
            "the fever had been [absent|unknown] since {year:last}",
            "no case of the fever had been [seen|recorded] in the region since {year:last}",
        ),
    ),
)

ACCIDENTS = (FLOOD, FIRE, CRASH, OUTBREAK)
