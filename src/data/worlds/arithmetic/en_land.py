"""English wordings: farms and roads."""

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
trips: {trips} [rounds|tours] [are on the list for|fit into] each day
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
"""
