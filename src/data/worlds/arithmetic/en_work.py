"""English wordings: workshops, houses, kitchens."""

from __future__ import annotations

TEXT = """
@printing
places: Print Works, Copy Shop, Press House, Publishing House
nouns: item=sheet
things: {items}
open: {N} [oversees|supervises] an [urgent|overnight] order of {items} at {P}
open: {when}, {P} [prints|is busy with] {items} for [a client|the town], and {N} [is in charge|watches the machines]
presses: {presses} [machines|presses] [run side by side|are switched on]
presses: {N} [starts|sets going] {presses} presses
ppm: a press [turns out|produces|spits out] {ppm} {items} [a minute|per minute]
ppm: in one minute each [machine|press] [finishes|delivers] {ppm} {items}
ppm listing: Output of one press at {P}: {ppm} {items} a minute.
ppm listing: Presses at {P} make {ppm} {items} every minute.
ppm missing: how many {items} a press makes per minute
ppm about: minute, press, machine, makes
minutes: they [run|keep going] for {minutes} minutes [without a pause|]
minutes: [after|the job takes] {minutes} minutes [the power is cut|until the bell rings]
ask: how many {items} [come out|are printed] at {P} [in that time|]?
ask: how many {items} does {N} have from all the presses together?
far: [give|state] the size of the finished pile.
far: what is the total print run [under {N}'s eyes|of that session]?

@paint
order: fixed
places: Paint Shop, Building Supplies, Chandlery, Hardware Store
open: {N} [mixes|blends] [varnishes|paints|oils] bought at {P} for [a boat|the barn|a long fence]
open: {N} [gets|orders] [{colour} and white|light and dark] paint from {P}
a: {he} takes {a} litres of the [matt|first] kind
a: of the matt paint {a} litres are [needed|poured in]
pa: a litre of the matt paint costs {pa}
pa: for the matt kind {P} [wants|asks] {pa} [a|per] litre
pa listing: Matt paint at {P}: {pa} a litre.
pa missing: what a litre of the matt paint costs
pa about: matt, litre, cost, price
b: [to this come|then {he} adds] {b} litres of [the glossy one|gloss]
b: {b} litres of gloss [join it|go into the same drum]
pb: gloss [is sold at|costs] {pb} [a|per] litre
pb: {N} pays {pb} for each litre of gloss
pb listing: Gloss at {P}: {pb} a litre.
pb missing: what a litre of gloss costs
pb about: gloss, litre, cost, price
ask: how much does {N} pay {P} for both paints together?
ask: what does the [mixture|paint] cost {N} [in all|altogether]?
far: [name|find] the amount on the till slip.
far: what is the full price of the drum [when it is ready|that {N} fills]?

@together
places: Workshop, Community Hall, Repair Café, Studio, Youth Club
nouns: item=task
open: {N} and {N2} [share|split] a big job at {P}
open: at {P}, {N} [teams up|joins forces] with {N2} to [finish|prepare] {items}
ra: {N} [gets through|can finish] {ra} {items} [an hour|in an hour]
ra: in one hour {N} [manages|completes] {ra} {items}
ra listing: {N}, {P}: {ra} {items} an hour.
ra missing: how many {items} {N} finishes in an hour
ra about: {N}, hour, finishes
rb: {N2} [handles|does] {rb} {items} [hourly|per hour]
rb: {N2}'s pace is {rb} {items} [an hour|every hour]
rb listing: {N2}, {P}: {rb} {items} an hour.
rb missing: how many {items} {N2} finishes in an hour
rb about: {N2}, hour, finishes
total: [in all, |]{total} {items} [wait for them|have to be ready]
total: the order [is for|calls for] {total} {items}
ask: how many hours do {N} and {N2} need for the {items} if they work at the same time?
ask: how long, in hours, [will it take|does it take] {N} and {N2} [to finish|] together?
far: [find|work out] the time, in hours, until the last one is done.
far: after what number of hours can the pair go home?

@tiles
places: Swimming Hall, Town Kitchen, Bakery, Hospital, Clubhouse
things: tiles
open: {N} [lays|fits] a new floor [in the main room|in the hall|] of {P}
open: {when}, the [old floor|flooring] of {P} is [torn out|replaced], and {N} [measures everything|orders the tiles]
long+wide: the room is {long} metres long and {wide} metres wide
long+wide: {he} measures {long} metres [along one wall|by the window side] and {wide} metres along the other
per: [a|one] square metre [takes|needs|swallows] {per} tiles
per: {per} tiles [cover|fill] one square metre
per listing: Tiles to the square metre at {P}: {per}.
per listing: The floor pattern of {P} uses {per} tiles a square metre.
per missing: how many tiles one square metre takes
per about: tiles, square, metre
ask: how many tiles does {N} need for [the room|the floor] at {P}?
ask: how many tiles [cover|go into] the whole [floor|room] that {N} measured?
far: [state|calculate] what {N} has to order from the kiln.
far: what quantity of tiles finishes the job?

@sewing
places: Tailor Shop, Costume Workshop, Sewing Room, Textile Mill
nouns: item=garment
open: {N} [sews|cuts out] {items} at {P}
open: {P} [has an order for|must deliver] {items}, and {N} [sits at the machine|handles the fabric]
rolls: {he} [fetches|opens] {rolls} rolls of [linen|cotton|wool]
rolls: {rolls} rolls of cloth [lie ready|are in stock]
roll: [a|each] roll is {roll} metres long
roll: {roll} metres of cloth [are wound on|make up] one roll
roll listing: Cloth on one roll at {P}: {roll} metres.
roll missing: how many metres of cloth are on a roll
roll about: roll, metres, cloth
shirts: {shirts} {items} [have to be made|are on the order sheet]
shirts: the [customer|school|theatre] [wants|ordered] {shirts} {items}
per: one {item} [uses up|takes] {per} metres
per: for each {item} {he} [cuts|needs] {per} metres
per listing: Cloth for one {item} at {P}: {per} metres.
per missing: how many metres of cloth one {item} takes
per about: {item}, metres, cloth, takes
ask: how many metres of cloth [remain|are left over] when {N} has finished the {items}?
ask: how much cloth, in metres, does {P} have left after the order?
far: [work out|find] the length of the remnant.
far: what can {N} carry back to the shelf, measured in metres?

@typing
order: fixed
places: Law Office, News Desk, Archive, Translation Bureau
open: {N} [types|copies out] a [report|manuscript|speech] for {P}
open: {when}, {P} [hands|gives] {N} a [handwritten text|long transcript] to type
text: the [piece|document] [runs to|has] {text} words
text: {text} words [must be keyed in|are in it]
wpm: {he} [types|manages] {wpm} words [a minute|per minute]
wpm: {his} speed is {wpm} words [a minute|every minute]
wpm listing: Typing speed of {N}, {P}: {wpm} words a minute.
wpm missing: how many words {N} types per minute
wpm about: words, minute, types, speed
rest: [in between|halfway through] {he} [rests|stretches] for {rest} minutes
rest: a [tea break|phone call] [costs|uses up] {rest} minutes
ask: how many minutes [pass|go by] from the first word to the last, [the break|that pause] included?
ask: how long does {N} need for the [text|document], in minutes and with the pause?
far: [find|give] the time in minutes that {N} spends at the desk.
far: in minutes, when is {P} able to read the fair copy?

@machines
order: fixed
places: Toy Factory, Metal Works, Moulding Plant, Assembly Hall
nouns: item=part
things: {items}
open: {N} [is shift leader|watches over the line] at {P}, which [makes|turns out] {items}
open: {when}, {N} [takes charge of|covers] a shift at {P}
machines: {machines} machines [are running|hum away]
machines: the [hall|line] [holds|counts] {machines} machines
hourly: a machine [stamps|makes|casts] {hourly} {items} [an hour|per hour]
hourly: every hour, {hourly} {items} [leave|drop out of] each machine
hourly listing: Rated output at {P}: {hourly} {items} an hour for each machine.
hourly missing: how many {items} a machine makes per hour
hourly about: machine, hour, makes, output
hours: the shift [goes on for|lasts] {hours} hours
hours: {hours} hours [later|pass before] the siren sounds
flawed: {flawed} {items} [fail|do not pass] the [test|inspection]
flawed: the [inspector|tester] [rejects|sorts out] {flawed} {items}
ask: how many [flawless|good] {items} does {N}'s shift [deliver|make]?
ask: how many {items} from {P} [pass|survive] the inspection?
far: [report|calculate] the shift's usable output.
far: what may {N} enter as good pieces in the log?

@project
places: Archive, Excavation Site, Community Garden, Film Studio, Boat Yard
open: {N} [works on|leads] a [restoration|survey|dig|rebuild] at {P}
open: {P} [gives|assigns] {N} a [new project|special task]
d1+d2: it [begins|starts] on the day after {m} {d1} and [ends with|includes] {next_m} {d2}
d1+d2: the first day is the one after {m} {d1}, the last [is|falls on] {next_m} {d2}
daily: {he} [spends|gives it] {daily} hours [a day|every day]
daily: each day [calls for|has] {daily} hours of [work|effort]
daily listing: Working time a day at {P}: {daily} hours.
daily missing: how many hours a day the work takes
daily about: hours, day, daily
ask: how many hours does {N} [spend|work] in that time?
ask: how many hours of work [go into|does {N} put into] the project at {P}?
far: [add up|work out] {N}'s time sheet, in hours.
far: what does the whole period amount to in working hours?

@tank
order: fixed
places: Fish Farm, Fire Station, Swimming Pool, Greenhouse, Dairy
open: {N} [fills|tops up] the [big |]tank at {P}
open: {when}, the water tank of {P} has to be filled, and {N} [opens the valve|starts the pump]
cap: the tank [holds|takes] {cap} litres [when full|]
cap: {cap} litres [fit|go] into it
had: [at first|already] {had} litres are [inside|in it]
had: {N} [finds|reads] {had} litres [on the gauge|left from before]
rate: the pump [delivers|moves] {rate} litres [a minute|per minute]
rate: [every minute|each minute] {rate} litres [flow|pour] in
rate listing: Pump at {P}: {rate} litres a minute.
rate missing: how many litres the pump delivers per minute
rate about: pump, litres, minute
ask: how many minutes does it take until the tank at {P} is full?
ask: how many minutes must {N} let the pump run?
far: [tell {N}|find out] when the valve can be shut, in minutes from the start.
far: what is the waiting time, in minutes?

@water
places: Boarding House, Greenhouse, Sports Ground, Laundry, Botanic Garden
open: {N} [reads the meters|looks after the plumbing] at {P}
open: {when}, the sprinklers at {P} are [turned on|in use], and {N} [keeps a log|notes it all]
hourly: the system [uses|draws] {hourly} litres [an hour|per hour]
hourly: {hourly} litres [run through|go through] the pipe [each hour|in an hour]
hourly listing: Consumption at {P}: {hourly} litres an hour.
hourly missing: how many litres the system uses per hour
hourly about: litres, hour, uses
hours: it is on for {hours} hours [a day|every day]
hours: each day it [works|runs] {hours} hours
days: this [goes on|lasts] for {days} days
days: {N} [lets it run like that|keeps it so] for {days} days
ask: how many litres does {P} use [in that period|over all the days]?
ask: how many litres of water [flow|run] through the system while {N} keeps the log?
far: [give|find] the total consumption in litres.
far: what volume, in litres, will the water board bill?

@pills
places: Care Home, Animal Shelter, Rehab Clinic, Sanatorium
things: tablets
open: {N} [orders|looks after] the medicine at {P}
open: {P} [needs|is running out of] [vitamin|iron|calcium] tablets, so {N} [makes a list|calls the pharmacy]
people: {people} [residents|patients|guests] [are on the list|take them]
people: the [plan|chart] names {people} [people|residents]
daily: [a resident|each of them] [gets|swallows] {daily} tablets a day
daily: the [dose|ration] is {daily} tablets [daily|a day] for each
daily listing: Daily dose at {P}: {daily} tablets a head.
daily missing: how many tablets each person gets per day
daily about: tablets, day, daily, dose
days: the [supply|stock] [should|has to] last {days} days
days: {N} [plans for|wants enough for] {days} days
ask: how many tablets must {N} [order|have] for {P}?
ask: how many tablets [are needed|will be handed out] in that time?
far: [calculate|name] the size of {N}'s order.
far: what stock keeps everybody at {P} supplied?

@stairs
places: Lighthouse, Bell Tower, Office Tower, Old Castle, Water Tower
things: steps
open: {N} [carries mail|does the rounds] at {P}, where the lift [is broken|has been out of order]
open: to [keep fit|train for a mountain tour], {N} climbs the stairs of {P}
floors: {he} goes up {floors} floors [each time|]
floors: [from the ground to the top|between door and roof] there are {floors} floors
steps: [a floor has|between floors there are] {steps} steps
steps: it takes {steps} steps to [get up|climb] one floor
steps listing: Steps between floors at {P}: {steps}.
steps missing: how many steps one floor has
steps about: steps, floor
climbs: {N} [makes|repeats] the climb {climbs} times
climbs: {climbs} [climbs|trips up] are [done|planned] in all
ask: how many steps does {N} climb at {P} [altogether|in all]?
ask: how many steps up [are that|does that make] for {N}?
far: [work out|find] the count on {N}'s step meter, going up only.
far: what do all the climbs add up to in steps?

@solar
places: Farmhouse, School, Town Library, Brewery, Chapel
open: {P} has [put solar panels on the roof|gone solar], and {N} [reads the inverter|does the accounts]
open: {N} [sells|feeds] sun power from the roof of {P} to the grid
panels: {panels} panels [face south|cover the roof]
panels: the roof [carries|is fitted with] {panels} panels
kwh: a panel [yields|gives] {kwh} kilowatt-hours a day
kwh: each day one panel [makes|produces] {kwh} kilowatt-hours
kwh listing: Daily yield of one panel at {P}: {kwh} kilowatt-hours.
kwh missing: how many kilowatt-hours one panel makes per day
kwh about: panel, kilowatt-hours, day
days: the sun shines for {days} days
days: {N} [looks at|adds up] {days} [clear|sunny] days
tariff: a kilowatt-hour [earns|is bought for] {tariff}
tariff: the grid pays {tariff} for one kilowatt-hour
tariff listing: Feed-in rate for {P}: {tariff} a kilowatt-hour.
tariff missing: how much is paid for one kilowatt-hour
tariff about: kilowatt-hour, paid, rate, price
ask: how much money does {P} [earn|get] from its panels in these days?
ask: what do the panels bring {P}, [by|according to] {N}'s figures?
far: [compute|find] the credit on the power bill.
far: what is the sunshine worth to {P}?

@walls
places: Kindergarten, Gallery, Railway Station, Chapel, Dance School
open: {N} [paints|whitewashes] the [walls|ceilings] of {P}
open: {when}, {P} gets [a fresh coat|new colours], and {N} [brings the rollers|climbs the ladder]
area: the walls [measure|come to] {area} square metres
area: {area} square metres [have to be painted|await the brush]
coats: every wall [gets|needs] {coats} coats
coats: {N} [puts on|applies] {coats} coats [everywhere|]
cover: a litre [covers|is enough for] {cover} square metres
cover: with one litre {he} [does|can paint] {cover} square metres
cover listing: Wall paint at {P}: a litre covers {cover} square metres.
cover missing: how many square metres a litre covers
cover about: litre, square, metres, covers
ask: how many litres of paint does {N} need for {P}?
ask: how many litres [will|do] the walls [swallow|take up] in all?
far: [find|tell {N}] the amount of paint to buy, in litres.
far: what volume of paint goes on the job, in litres?

@recipe
places: Bakery, Patisserie, Pizzeria, Village Kitchen, Canteen
nouns: dish=dough, item=stuff
open: {N} [bakes|makes] {dish} at {P} [for a feast|for the whole street|]
open: {when}, {P} [has an order for|serves] {dish}, and {N} [weighs the ingredients|does the mixing]
grams: [one|a] batch [takes|needs|calls for] {grams} grams of {item}
grams: {he} [puts|tips|measures] {grams} grams of {item} [into|for] each batch
grams listing: {item} for one batch of {dish}, {P}: {grams} grams.
grams missing: how many grams of {item} one batch takes
grams about: grams, batch, {item}
batches: {batches} batches [go into the oven|are planned]
batches: {N} [prepares|makes] {batches} batches
ask: how many kilograms of {item} does {N} [use|need] for the {dish}?
ask: how much {item}, in kilograms, [do the batches take|is used up] at {P}?
far: [work out|state] the weight of {item} to buy, in kilograms.
far: in kilograms, what has to be on {N}'s scales?

@coffee
places: Café, Coffee House, Roastery, Station Bar, Tea Room
open: {N} [runs the bar|pulls espressos|is the barista] at {P}
open: {P} [is popular|has many regulars], and {N} [buys the beans|orders supplies]
cups: {cups} cups [a day|are sold daily] [go over the counter|leave the machine]
cups: [every day|each day] {he} [fills|serves] {cups} cups
grams: one cup [takes|uses] {grams} grams of beans
grams: {he} [grinds|weighs out] {grams} grams [for each cup|per cup]
grams listing: Beans for one cup at {P}: {grams} grams.
grams missing: how many grams of beans one cup takes
grams about: grams, cup, beans
days: {P} [is open on|opens for] {days} days [this month|]
days: [the order has to last|{N} plans for] {days} days
ask: how many kilograms of beans does {P} need [for that time|]?
ask: how many kilograms of beans [go|pass] through {N}'s grinder?
far: [find|give] the weight of the order in kilograms.
far: what do the sacks [of {P}|in the cellar] have to weigh together, in kilograms?
"""
