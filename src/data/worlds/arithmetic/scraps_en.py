"""English sentences around a problem: remarks that do not matter, ways to open a question, lines of articles."""

from __future__ import annotations

REMARKS = """
[a|the office] {creature} called {pet} [sleeps|dozes|naps] [beside the stove|under the counter|by the door|on the sill]
the [front door|sign|gate|fence] of {P} [was|got] painted {colour} [last year|not long ago|in {month}]
[there is|expect|the forecast promises] {weather} [over the hills|down the valley|near the {place_nearby}]
{his} {kin} [prefers|listens to|hums along with] {music} [at work|in the kitchen|all evening]
[lunch|dinner] [is|was|will be] {snack}[, as usual||, still warm]
{N}'s {kin} [trained|once worked|retired] as {a job} [near the {place_nearby}|in another county|years ago]
the building [stands|lies] [close to|opposite|behind] the {place_nearby}
[somebody|a stranger|the caretaker] left [an umbrella|gloves|a blue hat|a bicycle pump] [in the hallway|by the till]
[a photograph|a cartoon|an old map] of the {place_nearby} hangs [above the desk|in the corridor|next to the clock]
{P} was [opened|founded] more than [a generation|a decade|a century] ago by {a job}
[a local paper|the evening bulletin|a radio host] once [praised|mentioned|interviewed] the people at {P}
the {place_nearby} [can be seen|is just visible] from the [back window|roof|yard]
{N} wears [{a colour} scarf|{colour} boots|{a colour} cap] [that day|whenever it is cold|for luck]
[tea|coffee|cocoa|mint water] is [free for visitors|served after hours|kept warm in a flask]
{his} {kin} is [also around|on a trip to the coast|learning the accordion|writing a novel]
[half the staff|the whole crew|most of the helpers] [cycle|walk|hitch a ride] to work
the radio [plays|keeps playing|crackles with] {music}
{N} [would rather|hopes one day to] be {a job}
[nobody|hardly anyone] remembers when the clock [on the wall|in the tower] last [stopped|chimed]
a [mural|notice|poster] by the entrance shows {a colour} {creature}
[afterwards|later|that evening] {he} wants to [visit|sketch|walk past] the {place_nearby}
the floor [smells of|is being polished with] [wax|lavender|pine soap]
{N} [once lived|grew up|spent a year] near the {place_nearby}
"""

LEADS = """
[in the end|all told|everything considered|on the whole|when all is done|taking it all together|to sum up],
[quick question|my question|just to be sure|for the record|{his} {kin} asks|{N} wonders|someone asks]:
[so|now|well|right|all right|then], [tell me|say]:
"""

INTROS = """
This sheet was [last revised|checked|reprinted] in {month}.
[Kept|Written|Compiled] by {N2}, {job}.
[Please keep this page dry.|Copies hang by the entrance.|A new edition follows in {month}.]
[Questions go to|Ask for|Errors may be reported to] {N2} [at the desk|in the office|on weekdays].
[Valid until the end of {month}.|For visitors and staff alike.|Older editions no longer apply.]
"""

LINES = """
[Opening hours|Doors open|Visitors are welcome]: {x1} to {x2} o'clock.
[Parking|Parking bays]: {x1} [spaces behind the {place_nearby}|spaces in the yard|spots by the gate].
The {colour} room [seats|has chairs for] {x1}.
[Umbrellas|Lockers|Raincoats] can be borrowed for {x1} [cents|pence] a day.
[Every complaint|Lost property] is kept on file for {x1} days.
Extension {x1} reaches the {job} on duty.
[Dogs|Prams|Bicycles] must stay [outside|in the yard|by the fence]; there are {x1} hooks.
Shelf {x1} [holds|is for] [spare keys|old letters|first-aid kits|light bulbs].
The [lift|boiler|clock] was serviced {x1} times [last year|since {month}].
[A set of|A box of] {colour} [ribbons|crayons|napkins] has {x1} pieces.
[The choir|The chess club|The walking group] meets in room {x1}.
[Founded|Opened] {x1} years ago by {N2}, {a job}.
[The annual fair|The open day|Stocktaking] falls on the {x1}th of {month}.
[Fire drill|First-aid course|Staff picnic]: {x1} {month}.
Bus line {x1} stops at the {place_nearby}.
The [garden|cellar|attic] measures {x1} by {x2} metres.
[A poster|A map|A guided tour] of the {place_nearby} takes {x1} minutes to study.
[Membership cards|Visitor badges] are renewed every {x1} years.
[Tea|Cocoa|Mint water] is poured at {x1} o'clock for {x2} guests.
{N2}'s {creature} [is {x1} years old|won {x1} ribbons].
"""
