"""English wordings: shops, stalls, shows, pay."""

from __future__ import annotations

TEXT = """
@crates
order: fixed
places: Drinks Depot, Village Store, Warehouse, General Store, Import House
nouns: item=bottled
things: {items}
open: {when}, {N} [checks a delivery|signs for a shipment|unloads the lorry] at {P}
open: a [load|consignment] of {items} [reaches|arrives at] {P}, where {N} [keeps the stock book|runs the storeroom]
crates: [altogether |]{crates} [crates|boxes] [come off|are lifted from] the [truck|wagon|trailer]
crates: the [driver|carrier] [brings|delivers|drops off] {crates} crates
per: every crate [holds|is packed with|contains] {per} {items}
per: [inside|in] each crate sit {per} {items}
per listing: {P} [packs|ships] {per} {items} to a crate.
per listing: Crates [as supplied by|from] {P} [hold|carry] {per} {items}.
per missing: how many {items} one crate holds
per about: crate, crates, holds, each
broken: [sadly|on the bumpy road], {broken} of the {items} [crack|are smashed|get broken]
broken: {N} [throws out|has to discard|writes off] {broken} damaged {items}
ask: how many [sound|whole|undamaged] {items} [are left|remain] [for {P}|in the storeroom]?
ask: how many {items} can {N} [put on the shelves|book as good stock] at {P}?
far: [find|give|work out] the [quantity|number] of {items} [fit to sell|in one piece] after {N}'s check.
far: what does the stock book of {P} gain in usable {items}?

@stall
order: fixed
places: Weekly Market, Night Market, Craft Fair, Harbour Market, Street Bazaar
nouns: item=ware
open: {N} [rents a stall|has a small stand|sets up a table] at {P} and [sells|offers] {items}
open: at {P}, {N} [makes a living from|earns a little with] homemade {items}
daily: {he} [sells|parts with|gets rid of] {daily} {items} [on each day|a day|daily]
daily: [buyers|passers-by|tourists] [take|carry off] {daily} {items} each day
days: the stand [stays open for|runs for] {days} days [in a row|this month|]
days: {N} [keeps this up|trades there] for {days} [market |]days
price: [one|a single] {item} [goes for|sells for|is priced at] {price}
price: {his} customers pay {price} [apiece|for each {item}|per piece]
price listing: At {P} [a|one] {item} costs {price}.
price listing: {N}, {items}: {price} each.
price missing: how much one {item} costs
price about: cost, costs, price, sells, {item}
ask: how much money does {N} [take in|collect] [in those days|over the whole stay] at {P}?
ask: what do the {items} bring {N} [in all|altogether]?
far: [work out|calculate] the [takings|turnover|revenue] of {N}'s stand.
far: what sum ends up in {N}'s cash box [when {P} closes|after the last market day]?

@sale
order: fixed
places: Outlet, Department Store, Home Store, Clearance Hall, Emporium
nouns: item=cloth
open: {when}, {N} [goes shopping|looks for bargains|stops] at {P}
open: {N} [needs|has been sent to buy] new {items}, [and|so] {he} [heads for|visits] {P}
many: {he} [puts {many} {items} in the basket|picks out {many} {items}|wants {many} of the {items}]
many: {many} {items} [land in the trolley|go to the till|are taken off the rack]
price: [a|each|one] {item} [is marked|is labelled|has a tag of] {price}
price: the [regular|normal|usual] price of one {item} is {price}
price listing: {P} sells [a|the] {item} for {price} before any reduction.
price listing: Regular price, {item}: {price}.
price missing: what one {item} costs at the regular price
price about: price, cost, costs, {item}, regular
off: [today|this week] everything is [reduced by|cut by] {off}
off: [shoppers|customers] get {off} off [the marked price|at the checkout|this season]
ask: how much does {N} pay for the {items} at {P}?
ask: what is {N}'s bill [at|from] {P} after the reduction?
far: [find|name] the amount {N} hands to the cashier.
far: what total shows on the receipt [that {N} brings home|in {his} pocket]?

@rental
order: fixed
places: Tool Hire, Outdoor Centre, Rental Shed, Equipment Yard, Sports Hire
nouns: item=gear
open: {N} [rents|hires|books] {a item} from {P}
open: for a [private project|family trip|club event], {N} takes {a item} on hire at {P}
d1+d2: {he} [collects|fetches] it on {m} {d1}, a day that is free, and [hands it back|returns it] on {next_m} {d2}
d1+d2: the [contract|slip] [says|shows] pick-up on {m} {d1}, not charged, [and|with] return on {next_m} {d2}
fee: the [charge|rent] is {fee} [a day|per day|for every day]
fee: {P} [asks|takes] {fee} for each day [of hire|it is away]
fee listing: Hire of {a item} at {P}: {fee} a day.
fee listing: {P} lends {items} at {fee} per day.
fee missing: how much the {item} costs per day
fee about: day, daily, rent, fee, charge, cost
ask: how much does {N} owe {P} for the {item}?
ask: what does the hire of the {item} cost {N} [in all|]?
far: [tell {N}|work out] what the whole hire period adds up to in money.
far: what amount will be on the invoice that {P} [sends|writes]?

@hire
order: fixed
places: Bike Station, Boat House, Studio, Car Share, Go-Kart Track
nouns: item=gear
open: {N} [books|reserves] {a item} at {P} for [an afternoon|a trip|a rehearsal|a job in the garden]
open: {when}, {N} [asks|turns to] {P} [for|because {he} needs] {a item}
base: [a|the] [flat|fixed] [charge|fee] of {base} is [due at the start|added to every booking]
base: whoever books there pays {base} [up front|for the paperwork]
hourly: [on top of that comes|then there is a rate of] {hourly} [an hour|per hour]
hourly: each hour [of use |]costs {hourly}
hourly listing: Hourly rate for {a item} at {P}: {hourly}.
hourly listing: {P} counts {hourly} for an hour of use.
hourly missing: what one hour of use costs
hourly about: hour, hourly, rate
hours: {he} [keeps|uses] the {item} for {hours} hours
hours: {hours} hours [later|go by before] {N} brings it back
ask: what does {N} pay {P} [in total|altogether] for the {item}?
ask: how much is {N} charged for {his} {hours} hours with the {item}?
far: [find|state] the [full bill|sum due] when the {item} comes back.
far: what is the price of the outing [for {N}|], all charges included?

@tickets
order: fixed
places: Open-Air Theatre, Zoo, Circus, Puppet Theatre, Water Park, Steam Railway
open: {when}, {P} [draws|welcomes] a [crowd|good crowd|lively audience], and {N} [minds the gate|sits at the ticket
  desk]
open: {N} sells tickets [at the entrance|at the window] of {P}
adults: {adults} [grown-ups|adults] [walk in|pass the gate|come through the turnstile]
adults: [the list shows|{he} counts] {adults} adults [that day|]
pa: an adult ticket costs {pa}
pa: [grown-ups|adults] are [charged|asked for] {pa} each
pa listing: Admission to {P}, adults: {pa}.
pa listing: An adult enters {P} for {pa}.
pa missing: what an adult ticket costs
pa about: adult, adults, ticket, price, cost
kids: [as many as|no fewer than] {kids} children [come too|want in]
kids: {kids} children [get in as well|join the queue and enter]
pk: [for a child|for children] the price is {pk}
pk: a child's [entry|seat|ticket] [comes to|is sold at] {pk}
pk listing: Admission to {P}, children: {pk}.
pk listing: Children enter {P} for {pk}.
pk missing: what a child's ticket costs
pk about: child, children, child's, ticket, price, cost
ask: how much money does {N} [collect|count] from adults and children at {P}?
ask: what do the tickets of {P} [bring in|earn] that day?
far: [compute|work out] the day's box-office [income|result].
far: what amount should lie in {N}'s drawer at [night|closing time]?

@hotel
order: fixed
places: Guest House, Inn, Seaside Hotel, Mountain Lodge, Youth Hostel
open: {N} [travels with friends|goes on a trip] and [stays|sleeps] at {P}
open: {P} [takes a booking from|has a reservation by] {N} for a [group|family]
nights: they [stay|remain] {nights} nights
nights: the [booking|visit] covers {nights} nights
room: the [shared |family |]room costs {room} [a night|per night]
room: for one night in the room {P} [asks|charges] {room}
room listing: Family room at {P}, one night: {room}.
room listing: {P} lets its large room for {room} a night.
room missing: what the room costs per night
room about: room, night, cost, price
guests: the [party|group] [counts|is made up of] {guests} people
guests: {guests} guests [sit down to breakfast|want breakfast] each morning
meal: breakfast is {meal} a head for each night [of the stay|]
meal: with every night goes a breakfast [priced at|for] {meal} [a person|per person]
ask: how much is the [whole bill|bill] of {N}'s group at {P}?
ask: what do room and breakfasts cost {N} and the others altogether?
far: [find|tell me] the sum {N} has to settle at the reception desk.
far: what does this holiday lodging come to?

@theatre
order: fixed
places: Playhouse, Concert Hall, Cinema, Opera House, Lecture Hall
things: people
open: {when}, {P} [shows a new play|has a premiere|puts on a gala], with {N} [at the door|as head usher]
open: {N} [looks after the seating|guides guests to their places] at {P}
rows: the [hall|auditorium] [has|is laid out in] {rows} rows
rows: {rows} rows of seats [face|stand before] the stage
seats: [there are|one finds] {seats} seats [in each row|to a row]
seats: a row [seats|takes|has space for] {seats} people
seats listing: Seats in a row at {P}: {seats}.
seats listing: {P} was built with {seats} seats to the row.
seats missing: how many seats a row has
seats about: row, seats, seat
empty: [that evening|tonight] {empty} seats [stay empty|remain free|find no taker]
empty: {N} [counts|reports] {empty} [unused|vacant] seats
ask: how many people [watch|attend] the [show|performance] at {P}?
ask: how many seats at {P} are taken [according to {N}|that night]?
far: [determine|give] the size of the audience.
far: what number of spectators does {N} [write in the log|note down]?

@wages
order: fixed
places: Cannery, Nursery, Car Wash, Call Centre, Packing Hall, Laundry
open: {N} [has found|starts] a [summer|holiday|part-time] job at {P}
open: {when}, {P} [takes on|hires] {N} as [a helper|an assistant|a temp]
rate: [the job|the work] [pays|brings in] {rate} [an hour|for every hour]
rate: for one hour {he} [gets|is paid] {rate}
rate listing: Hourly pay for helpers at {P}: {rate}.
rate listing: {P} pays temporary staff {rate} an hour.
rate missing: how much the job pays per hour
rate about: hour, hourly, pay, pays, wage
hours: {his} shift [lasts|is] {hours} hours
hours: a [normal |]day there [means|has] {hours} hours of work
days: {he} [turns up|works|is on duty] on {days} days
days: the [contract|roster] [lists|covers] {days} [working |]days
ask: how much does {N} [earn|make] at {P} [in that time|altogether]?
ask: what pay does {N} [receive|get] for all {his} shifts?
far: [calculate|find] the wage that goes to {N}'s account.
far: what sum does the [paymaster|office] hand over [at the end|when the job ends]?

@overtime
order: fixed
places: Foundry, Shipyard, Bottling Plant, Sawmill, Post Centre
open: {N} [works|has a steady post] as {a job} at {P}
open: at {P}, {N} [had a hard week|took on some late shifts]
rate: [an ordinary|a normal] hour is [worth|paid at] {rate}
rate: {his} base pay [stands at|is] {rate} [an hour|per hour]
rate listing: Base pay at {P}: {rate} an hour.
rate listing: An ordinary hour at {P} is paid with {rate}.
rate missing: how much an ordinary hour pays
rate about: hour, ordinary, base, pay, pays
hours: {he} [puts in|does] {hours} [ordinary|regular] hours
hours: {hours} hours [count|are booked] as regular time
over: [besides|then] there [are|come] {over} hours of overtime
over: {over} [extra|late] hours [follow|are added as overtime]
plus: an overtime hour pays {plus} more [than a normal one|]
plus: for late hours {P} [adds|puts on] {plus} [each|an hour]
ask: how much does {N} earn that week with overtime included?
ask: what is the week's pay of {N} at {P}?
far: [work out|give] the figure on {N}'s payslip.
far: what does the payroll clerk [transfer to|owe] {N} for those days?

@shares
order: fixed
places: Partnership, Trading Company, Cooperative, Joint Venture, Fishing Company
open: {N} and {N2} [run|own] {P} together
open: {P} [belongs to|is shared by] {N} and {N2}
profit: this [year|quarter|season] [it makes|the books show] a profit of {profit}
profit: {profit} of profit [waits to be divided|is on the table]
mine: {N} is [entitled to|owed] {mine} parts [of it|]
mine: {mine} parts [fall to|belong to] {N}
mine listing: Parts of the profit of {P} held by {N}: {mine}.
mine missing: how many parts of the profit {N} gets
mine about: parts, {N}, share
theirs: {N2} [holds|receives] {theirs} parts
theirs: as many as {theirs} parts [go to|are for] {N2}
theirs listing: Parts of the profit of {P} held by {N2}: {theirs}.
theirs missing: how many parts {N2} gets
theirs about: parts, {N2}, share
ask: how much of the profit does {N} [get|take home]?
ask: what is {N}'s share [of the profit|] in {P}?
far: [compute|state] what lands in {N}'s pocket after the split.
far: what amount does the [accountant|bank] credit to {N}?

@loan
order: fixed
places: Credit Union, Savings Bank, Loan Office, Village Bank
open: {N} [borrows money from|takes a loan at] {P} [to buy {a vehicle}|to mend the roof|to open a workshop]
open: to [pay for a course|start a small business], {N} [turns to|gets credit from] {P}
sum_: the [loan|credit] is {sum_}
sum_: {he} [receives|is lent] {sum_} [in cash|]
pct: simple interest runs at {pct} [a year|per year]
pct: each year {pct} of the loan is [charged|due] as interest
pct listing: Simple interest at {P}: {pct} a year.
pct listing: {P} lends at {pct} a year, without compounding.
pct missing: what the yearly interest rate is
pct about: interest, rate, percent, yearly
years: {he} [keeps the money|plans to repay everything after] {years} years
years: the [term|contract] [ends after|is] {years} years
ask: how much must {N} pay back to {P} [in the end|altogether], interest included?
ask: what does {N} owe {P} at the end of the loan, with the interest?
far: [find|calculate] the final repayment with interest.
far: what single transfer [frees {N} of the debt|settles it all], interest and all?
"""
