"""English wordings: farms, roads, schools, homes, sport."""

from __future__ import annotations

TEXT = """
@harvest
places: Orchard, Fruit Farm, Estate, Grove
nouns: fruit=fruit
open: {N} [picks|helps to pick] the {fruit} crop at {P}
open: {when}, the {fruit} trees of {P} [are ripe|bend under their load], and {N} [leads the pickers|brings a ladder]
rows: the [grove|plantation] [has|is planted in] {rows} rows
rows: {rows} rows [run down|cover] the slope
trees: [in each row|to every row] [stand|there are] {trees} trees
trees: a row [numbers|is made of] {trees} trees
trees listing: Trees in a row at {P}: {trees}.
trees missing: how many trees stand in a row
trees about: trees, row
yield_: one tree [bears|gives] {yield_} kilograms
yield_: {N} [gets|shakes down] {yield_} kilograms from each tree
yield_ listing: Usual crop of one {fruit} tree at {P}: {yield_} kilograms.
yield_ missing: how many kilograms one tree bears
yield_ about: tree, kilograms, bears
ask: how many kilograms does {N} [bring in|pick] at {P}?
ask: how many kilograms [weighs|is] the {fruit} crop [of all the rows|]?
far: [find|estimate] the weight of the harvest in kilograms.
far: what will the scales say in the barn, in kilograms?

@fence
places: Pony Farm, Deer Park, Vineyard, Tree Nursery, Bird Reserve
open: {N} [fences in|puts a fence around] a meadow at {P}
open: because [deer|goats|hares] keep getting in, {N} [builds|plans] a fence for {P}
long+wide: the [plot|field] is {long} metres long and {wide} metres wide
long+wide: [a rectangle of|on the map it is] {long} metres by {wide} metres [is to be closed|]
price: a metre of fence costs {price}
price: {N} [pays|is quoted] {price} for each metre
price listing: Fencing bought by {P}: {price} a metre.
price missing: what a metre of fence costs
price about: metre, fence, cost, costs, price
ask: how much does the fence cost {P}, going all the way round?
ask: what does {N} pay for a fence around the whole [plot|field]?
far: [work out|find] the price of closing every side.
far: what sum should {P} set aside for the material?

@milk
order: fixed
places: Dairy Farm, Mountain Farm, Goat Farm, Farm School
open: {N} [milks|looks after] the herd at {P}
open: {when}, {N} [does the milking|fills the churns] at {P}
cows: {cows} animals [stand in the stable|are milked]
cows: the herd [counts|has] {cows} heads
each: [an animal|each of them] [gives|yields] {each} litres [a day|daily]
each: {each} litres a day come from each animal
each listing: Daily milk of one animal at {P}: {each} litres.
each missing: how many litres one animal gives per day
each about: litres, animal, gives, milk
cheese: {cheese} litres [go to|are kept for] the cheese [room|kettle]
cheese: {N} [sets aside|uses] {cheese} litres [for cheese|to make yoghurt]
ask: how many litres of the day's milk [are left|remain] at {P}?
ask: how many litres can {N} [send to the dairy|sell as fresh milk] that day?
far: [state|find] the volume in the tank truck, in litres.
far: what quantity of milk leaves {P}, in litres?

@hives
places: Honey Farm, Apiary, Convent, Heath Farm
open: {N} [keeps bees|empties the hives] at {P}
open: {when}, the bees of {P} have [worked hard|finished the lime blossom], and {N} [gathers|spins] the honey
hives: {hives} hives [stand in the sun|line the hedge]
hives: there are {hives} hives [on the slope|under the limes]
frames: [a hive|every hive] [has|is hung with] {frames} frames
frames: {N} [lifts|pulls] {frames} frames from each hive
frames listing: Frames in a hive at {P}: {frames}.
frames missing: how many frames a hive has
frames about: frames, hive
grams: a frame [yields|drips out] {grams} grams of honey
grams: from one frame come {grams} grams
grams listing: Honey from one frame at {P}: {grams} grams.
grams missing: how many grams of honey a frame yields
grams about: grams, frame, honey
ask: how many kilograms of honey does {N} get at {P}?
ask: how many kilograms of honey [are in|come from] all the hives?
far: [find|give] the weight of the honey in kilograms.
far: what does the season weigh in {N}'s buckets, in kilograms?

@seeds
order: fixed
places: Seed Farm, Garden Centre, School Garden, Herb Garden
nouns: item=flower
things: {items}
open: {N} [sows|plants] {items} at {P}
open: {when}, {P} [raises|grows] {items} under glass, and {N} [does the sowing|fills the trays]
packets: {he} [tears open|empties] {packets} packets [of seed|]
packets: {packets} packets [are used|go into the soil]
per: [a|each] packet [holds|contains] {per} seeds
per: {per} seeds [rattle|are] in one packet
per listing: Seeds in a packet, {items}, {P}: {per}.
per missing: how many seeds a packet holds
per about: seeds, packet
rate: {rate} of the seeds [come up|sprout]
rate: [in the end|before long] {rate} of all the seeds have [germinated|come up]
ask: how many {items} does {N} have at {P} [after that|]?
ask: how many {items} [grow|come up] from {N}'s packets?
far: [calculate|find] the number of seedlings on the bench.
far: what can {P} put out in pots?

@legs
order: fixed
places: Regional Railway, Coach Line, Valley Line, Overland Bus
open: {N} [travels|goes to see {his} {kin}] with {P}
open: {when}, {N} [takes a long trip|crosses the country] by {P}
v1: the [local|stopping] service [goes|travels] at {v1} kilometres [an hour|per hour]
v1: {v1} kilometres an hour is the [average|speed] of the local
v1 listing: Local services of {P} average {v1} kilometres an hour.
v1 missing: how fast the local service goes
v1 about: local, speed, fast, kilometres
h1: {he} [sits|stays] {h1} hours in the local
h1: the [first stage|local part] takes {h1} hours
v2: the express [does|reaches] {v2} kilometres [an hour|per hour]
v2: {v2} kilometres an hour is what the express [keeps up|makes]
v2 listing: Express services of {P} average {v2} kilometres an hour.
v2 missing: how fast the express goes
v2 about: express, speed, fast, kilometres
h2: [then come|after changing there are] {h2} hours in the express
h2: {h2} hours [pass|are spent] in the express
ask: how many kilometres does {N} [travel|cover] with {P} altogether?
ask: how long is {N}'s journey in kilometres?
far: [find|add up] the distance between {N}'s door and the destination.
far: what stretch of line, in kilometres, lies behind {N} at last?

@trips
places: Courier Service, School Bus, Milk Run, Delivery Service, Post Line
open: {N} drives {a vehicle} for {P}
open: {when}, {N} [takes over|starts on] a [regular|fixed] tour for {P}
route: one [round|tour] is {route} kilometres [long|]
route: the [loop|circuit] [measures|comes to] {route} kilometres
route listing: Length of the standard tour of {P}: {route} kilometres.
route missing: how many kilometres one tour is
route about: tour, round, kilometres, long
trips: {he} [drives|does] it {trips} times a day
trips: {trips} [rounds|tours] [are on the list|fit] into each day
days: [this week and next|in this stretch] {N} [works|drives] {days} days
days: after {days} days {he} [hands over the keys|has time off]
ask: how many kilometres does {N} drive for {P} in that time?
ask: how many kilometres [come together|are driven] by {N}?
far: [tell me|find] the change on the odometer.
far: what distance, in kilometres, goes in the log book?

@fuel
places: Car Hire, Freight Company, Taxi Company, Removal Firm
open: {N} drives {a vehicle} of {P} [to the coast|across the mountains|to a fair]
open: {P} lends {N} {a vehicle} for [a long trip|a removal]
km: the [whole way|journey] is {km} kilometres
km: {N} [covers|puts] {km} kilometres [on the clock|]
use: the [engine|{vehicle}] [burns|drinks] {use} litres [per|for every] hundred kilometres
use: for a hundred kilometres it needs {use} litres
use listing: Consumption, {vehicle}, {P}: {use} litres for a hundred kilometres.
use missing: how many litres the {vehicle} uses per hundred kilometres
use about: litres, hundred, kilometres, consumption, uses
price: a litre of fuel costs {price}
price: at the pump [{he} pays|one pays] {price} a litre
price listing: Fuel at the yard of {P}: {price} a litre.
price missing: what a litre of fuel costs
price about: litre, fuel, cost, costs, price
ask: how much does {N} pay for fuel on this trip?
ask: what does the fuel for the journey cost {N}?
far: [work out|find] the petrol bill.
far: what sum goes into the tank, [seen over|for] the entire way?

@parcels
order: fixed
places: Freight Depot, Mail Centre, Air Cargo, Moving Company
open: {N} loads {a vehicle} at {P}
open: {when}, {N} [weighs|stacks] goods at {P}
parcels: {parcels} parcels [go on board|are stacked up]
parcels: the [manifest|list] names {parcels} parcels
each: [a|one] parcel weighs {each} kilograms
each: {N} [reads|notes] {each} kilograms for each parcel
each listing: Standard parcel at {P}: {each} kilograms.
each missing: how many kilograms one parcel weighs
each about: parcel, kilograms, weighs, weight
pallet: the [pallet|frame] under them [adds|weighs] {pallet} kilograms
pallet: to this comes a pallet of {pallet} kilograms
ask: how many kilograms does the load weigh [with the pallet|] at {P}?
ask: how heavy, in kilograms, is [everything|what] {N} puts on board?
far: [find|give] the figure the bridge scale shows, in kilograms.
far: what mass, in kilograms, does the floor have to bear?

@ferry
places: Ferry Line, River Shuttle, Island Boats, Harbour Ferries
things: passengers
open: {N} [sells tickets|casts off the ropes] for {P}
open: {when}, {P} [shuttles|takes] [visitors|hikers] across the [bay|river|lake], and {N} [counts|helps out]
boats: {boats} boats [are in service|go back and forth]
boats: the [fleet|line] [puts out|uses] {boats} boats
seats: a boat [carries|has seats for] {seats} people
seats: on each boat {seats} people [find a seat|can ride]
seats listing: Seats on a boat of {P}: {seats}.
seats missing: how many people a boat carries
seats about: boat, people, seats, carries
crossings: each of them makes {crossings} [full|] crossings
crossings: {crossings} times every boat [sets out|crosses], always full
ask: how many people [does {P} carry|cross with {P}] that day?
ask: how many passengers does {N} count if no seat stays empty?
far: [find|report] the day's number of travellers.
far: what total do the turnstiles on the pier show?

@book
order: fixed
places: Reading Club, Town Library, Book Circle, Evening School
things: pages
open: {N} [reads|is deep in] a [thick |]novel from {P}
open: {P} [lends|recommends] {N} a [crime story|biography|travel book]
pages: the book has {pages} pages
pages: it is {pages} pages [thick|long]
pages listing: Book of the month at {P}: {pages} pages.
pages missing: how many pages the book has
pages about: pages, book, long
daily: {he} [reads|gets through] {daily} pages [a day|every evening]
daily: {N} [has set {himself}|keeps to] {daily} pages a day
daily listing: Reading plan of {P}: {daily} pages a day.
daily missing: how many pages {N} reads per day
daily about: pages, day, reads
days: [so far|by now] {days} days have [gone by|passed]
days: {he} [has kept this up|has been reading] for {days} days
ask: how many pages [are left|has {N} still to read]?
ask: how many pages of the book [remain|lie ahead] for {N}?
far: [find|tell {N}] what is still unread.
far: what stretch of pages separates {N} from the ending?

@fines
order: fixed
places: City Library, School Library, Music Library, Map Archive
open: {N} [forgets|has forgotten] to take some books back to {P}
open: {P} [sends|writes] {N} a reminder
due+back: they were due on {month} {due} but {he} [brings|returns] them on {month} {back}
due+back: the [slip|stamp] says {month} {due}; {N} [turns up|appears] on {month} {back}
books: it is a matter of {books} [volumes|books]
books: {books} [books|volumes] [are in the bag|lay under the bed]
fine: for each day late a book costs {fine}
fine: {P} [asks|charges] {fine} per book and day
fine listing: Late fee at {P}: {fine} a day for every book.
fine missing: how high the late fee is per book and day
fine about: fee, fine, day, late, charge
ask: how much does {N} [owe|have to pay] {P} for [the books|all of them]?
ask: what do the late books cost {N}?
far: [compute|find] the fine that {N} has to settle.
far: what will the librarian ask for at the counter?

@classes
order: fixed
places: Primary School, Grammar School, Village School, Academy
things: pupils
open: {P} goes on [an outing|a hike|a museum trip], and {N} [draws up the list|organises it]
open: {when}, {N} [counts heads|prepares a sports day] at {P}
classes: {classes} classes [take part|are going]
classes: the [trip|day] is meant for {classes} classes
size: [a class|every class] has {size} pupils
size: {size} pupils [sit|are] in each class
size listing: Pupils in a class at {P}: {size}.
size missing: how many pupils a class has
size about: pupils, class, size
ill: {ill} [children|pupils] are [ill|at home with a cold]
ill: {N} [hears|notes] that {ill} pupils [cannot come|are absent]
ask: how many pupils of {P} [take part|are there]?
ask: how many pupils does {N} [tick off|count] that morning?
far: [find|give] the head count at the gate.
far: what number of children sets off in the end?

@quiz
order: fixed
places: Chess Academy, Quiz Club, Language School, Maths Circle
open: {N} [sits|takes] a test at {P}
open: {when}, {P} holds a [contest|quiz], and {N} [enters|gives it a try]
right: {he} [gets|answers] {right} questions right
right: {right} of {his} answers are [right|correct]
plus: a right answer [earns|is worth] {plus} points
plus: {plus} points [are given|go] for each correct one
plus listing: Points for a right answer at {P}: {plus}.
plus missing: how many points a right answer is worth
plus about: points, right, answer, correct
wrong: {wrong} answers are wrong
wrong: [on the other hand|sadly] {N} [slips|misses] {wrong} times
minus: a wrong one [takes away|costs] {minus} points
minus: for every mistake {minus} points are [deducted|lost]
ask: how many points does {N} [end up with|score] at {P}?
ask: what is {N}'s score [in points|] when mistakes are counted?
far: [find|work out] the result on the certificate.
far: what stands next to {N}'s name on the board?

@ages
order: fixed
places: House, Cottage, Villa, Farmhouse
open: young {N} [lives|shares a roof] at {P} with {his} sister {N2} and their mother
open: {N} [grows up|lives] at {P} with {his} sister {N2} and their mother
age: {N} is {age} years old
age: {his} last birthday cake had {age} candles
gap: {N2} is {gap} years older than {N}
gap: between {N} and {N2} lie {gap} years, {N2} being the elder
gap listing: The sisters and brothers at {P}: {N2} came into the world {gap} years before {N}.
gap missing: how many years older {N2} is than {N}
gap about: older, years, {N2}, age
times: their mother is {times} times as old as {N2}
times: {N2}'s age times {times} is [that of their mother|their mother's age]
years: [now think of|imagine] the [feast|party] in {years} years
years: the family [will move|wants to sail away] in {years} years
ask: how old will the mother be then?
ask: what age will the mother of {N} and {N2} have [reached|] by that time?
far: [work out|find] how many candles the mother needs on that day.
far: at that moment, what will be the mother's age?

@savings
order: fixed
places: Youth Bank, Piggy Bank Club, Savings Club, School Bank
open: {N} [saves up|puts money away] at {P} for [a guitar|a trip|a bicycle|a camera]
open: to [buy a telescope|see the sea], {N} has an account at {P}
had: [at the start|at first] {he} [has|owns] {had}
had: {had} [are there|lie there] already
weekly: [every week|each week] {weekly} [are added|go in]
weekly: {N} [pays in|brings] {weekly} [a week|weekly]
weekly listing: Standing order of {N} at {P}: {weekly} a week.
weekly missing: how much {N} saves per week
weekly about: week, weekly, saves, much
weeks: {he} [keeps going|does so] for {weeks} weeks
weeks: {weeks} weeks [go by|pass like this]
ask: how much money does {N} have at {P} [then|after that]?
ask: what has {N} saved [by then|] in all?
far: [find|give] the balance of the account.
far: what sum can {N} [take out|count on]?

@plan
order: fixed
places: Phone Company, Gym, Internet Service, Cable Network, Music School
open: {N} [signs|takes out] a contract with {P}
open: {when}, {N} [becomes a customer|joins as a member] at {P}
fee: it costs {fee} a month
fee: the monthly [fee|rate] is {fee}
fee listing: Monthly fee at {P}: {fee}.
fee missing: how high the monthly fee is
fee about: month, monthly, fee
months: the contract [runs|is made] for {months} months
months: {he} [stays|remains] {months} months
setup: [joining|the connection] costs {setup} once
setup: there is a one-off [charge|payment] of {setup}
ask: how much does {N} pay {P} over the whole contract?
ask: what does the contract with {P} cost {N} in all?
far: [add up|find] everything that leaves {N}'s account for it.
far: what is the price of the entire agreement?

@village
order: fixed
places: Village, Parish, Island Community, Settlement
things: people
open: {N} keeps the [register|records] of {P}
open: {when}, {P} [counts its people|takes a census], and {N} [goes from door to door|fills in the forms]
last: a year ago {last} people lived there
last: last year's [list|count] gave {last} people
last listing: People on the register of {P} at the last count: {last}.
last missing: how many people lived there a year ago
last about: people, year, lived, count
pct: since then {pct} [were added|came in] through births and arrivals
pct: newcomers and newborns make up a growth of {pct}
moved: {moved} people have moved away
moved: {N} [crosses out|deletes] {moved} who left
ask: how many people live in {P} now?
ask: how many names are on {N}'s list today?
far: [find|give] the present population.
far: what figure goes into this year's report?

@album
places: Collectors' Club, Stamp Society, Scrapbook Circle, Hobby Club
nouns: item=sticker
things: {items}
open: {N} fills an album [of|from] {P} with {items}
open: {N} [collects|has a passion for] {items} and [got|bought] an album from {P}
leaves: the album has {leaves} pages
leaves: {leaves} pages [wait|are bound in it]
per: a page [takes|has room for] {per} {items}
per: {per} {items} [go|fit] on each page
per listing: Albums of {P}: {per} {items} to a page.
per missing: how many {items} fit on a page
per about: page, fit, {items}
have: {N} [owns|has stuck in] {have} {items}
have: {have} {items} are [already in|in place]
ask: how many {items} does {N} still need for a full album?
ask: how many {items} are missing from {N}'s album?
far: [find|count] the gaps that are left.
far: what has {N} yet to collect?

@laps
places: Athletics Club, Running School, Ice Rink, Cycling Club
open: {N} [trains|runs] at {P}
open: {when}, {N} [prepares for a race|follows a training plan] at {P}
laps: each day {he} does {laps} laps
laps: {laps} laps are [a day's work|on the plan every day]
track: a lap is {track} metres
track: {track} metres [make|is the length of] one lap
track listing: Length of the track of {P}: {track} metres.
track missing: how many metres a lap is
track about: lap, metres, long
days: {N} [trains|does this] on {days} days
days: after {days} days {he} [takes a rest|sees the coach]
ask: how many kilometres does {N} cover at {P} in all?
ask: how many kilometres does that make for {N}?
far: [find|give] the training distance in kilometres.
far: what does the diary show, in kilometres?

@run
places: Charity Run, Sponsored Walk, Hospice Run, Harbour Run
open: {N} [organises|helps with] the {P}
open: {when}, the {P} [takes place|draws many people], and {N} [hands out numbers|keeps the tally]
runners: {runners} runners [start|take part]
runners: the [list|start] shows {runners} runners
km: a runner covers {km} kilometres
km: the course is {km} kilometres for everybody
km listing: Course of the {P}: {km} kilometres.
km missing: how many kilometres each runner covers
km about: kilometres, course, runner
pledge: sponsors [give|promise] {pledge} for each kilometre run
pledge: a kilometre is worth {pledge} to the sponsors
pledge listing: Sponsors of the {P} give {pledge} a kilometre.
pledge missing: how much the sponsors give per kilometre
pledge about: sponsors, kilometre, give, pledge
ask: how much money does the {P} raise?
ask: what do all the runners together bring in?
far: [find|announce] the donation.
far: what amount may {N} write on the big cheque?
"""
