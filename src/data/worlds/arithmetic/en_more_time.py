"""English wordings: scenes that go on from hours, ways, steps, pages and people."""

from __future__ import annotations

TEXT = """
@h_pay
h_pay_x: for each hour {P} pays {h_pay_x}
h_pay_x: the [time|work] is paid at {h_pay_x} an hour
h_pay_x listing: Pay at {P}: {h_pay_x} an hour.
h_pay_x missing: how much one hour is paid
h_pay_x about: hour, paid, pay
ask: how much money is paid for the hours?
ask: what do the hours cost {P}?
far: [find|state] the amount on the time bill.
far: what must the cashier get ready?

@h_min
h_min_x: [cleaning up|putting the tools away|the walk there] [takes|costs] another {h_min_x} minutes
h_min_x: {h_min_x} minutes for [tidying|setting up] come on top
ask: how many minutes is that in all?
ask: how many minutes does it take with those [extra minutes|] added?
far: [find|give] the full time in minutes.
far: what does the stopwatch say, in minutes?

@h_times
h_times_n: the same job comes up {h_times_n} times [a year|this season|]
h_times_n: {N} has to do it {h_times_n} times
ask: how many hours is that for all the times together?
ask: how many hours does it take when everything is counted?
far: [find|state] the sum of hours.
far: what is the overall time in hours?

@m_hours
m_hours_n: this is done {m_hours_n} times [a month|a season|]
m_hours_n: {N} goes through the same routine {m_hours_n} times
ask: how many hours is that altogether?
ask: how many hours do all the rounds take?
far: [find|give] the total, turned into hours.
far: what does it come to in hours?

@m_more
m_more_x: [a check|a short pause|a safety test] [takes|adds] {m_more_x} minutes
m_more_x: afterwards {N} needs {m_more_x} minutes to [tidy up|check it all]
ask: how many minutes is {N} busy in all?
ask: how many minutes does it take, the check included?
far: [find|state] the whole time in minutes.
far: what span, in minutes, passes until {N} is free?

@m_parts
m_parts_n: {m_parts_n} people take turns, each for the same time
m_parts_n: the time is divided into {m_parts_n} equal shifts
ask: how many minutes does one turn last?
ask: how many minutes is each person's part?
far: [find|give] the length of a single turn in minutes.
far: what is one shift, in minutes?

@k_fuel
k_fuel_l: the [engine|motor] uses {k_fuel_l} litres on a hundred kilometres
k_fuel_l: a hundred kilometres [cost|eat up] {k_fuel_l} litres of fuel
k_fuel_l listing: Vehicles of {P} use {k_fuel_l} litres on a hundred kilometres.
k_fuel_l missing: how many litres are used per hundred kilometres
k_fuel_l about: litres, hundred, kilometres
k_fuel_x: fuel [is at|stands at] {k_fuel_x} a litre
k_fuel_x: the filling station asks {k_fuel_x} a litre
k_fuel_x listing: Fuel, {P}: {k_fuel_x} a litre.
k_fuel_x missing: what a litre of fuel costs
k_fuel_x about: litre, fuel, cost, costs, price
ask: how much does the fuel for these kilometres cost?
ask: what is spent on fuel for the whole distance?
far: [find|state] the bill at the filling station.
far: what does the driving cost in petrol money?

@k_back
k_back_x: [all of this|the same distance] is covered a second time, [plus|with] a detour of {k_back_x} kilometres
k_back_x: all of it is done twice, and a {k_back_x} kilometre side trip is added
ask: how many kilometres is that with the detour?
ask: how many kilometres does {N} cover, both times and the detour counted?
far: [find|state] the full distance in kilometres.
far: what do the wheels or feet cover in kilometres?

@k_rest
k_rest_x: the [season's|year's|whole] plan [asks for|is] {k_rest_x} kilometres
k_rest_x: {P} [wants|set] a total of {k_rest_x} kilometres
ask: how many kilometres are still to go?
ask: how many kilometres of the plan are left for {N}?
far: [find|state] the open distance in kilometres.
far: what is missing to the target, in kilometres?

@k_pace
k_pace_x: [a heavier|an older|a tired] group covers {k_pace_x} kilometres in an hour
k_pace_x: a slower group does the same distance at {k_pace_x} kilometres an hour
k_pace_x listing: Pace of the slow group of {P}: {k_pace_x} kilometres an hour.
k_pace_x missing: how many kilometres an hour the slower group covers
k_pace_x about: kilometres, hour, pace, speed, fast
ask: how many hours would the slower group need for all the kilometres?
ask: how many hours does the slower group take for it?
far: [find|give] the slower group's time in hours.
far: what is the duration in hours for the slower group?

@p_bus
things: buses
p_bus_x: a bus [seats|takes] {p_bus_x} people
p_bus_x: they ride in buses with {p_bus_x} seats
p_bus_x listing: Buses used by {P} have {p_bus_x} seats.
p_bus_x missing: how many people fit in a bus
p_bus_x about: bus, buses, seats, fit
ask: how many buses are filled?
ask: how many buses must {N} order for all of them?
far: [find|state] the number of buses.
far: what convoy of buses is waiting outside?

@p_fee
p_fee_x: everyone present pays {p_fee_x}
p_fee_x: {P} [takes|collects] {p_fee_x} from every one
p_fee_x listing: Charge for each person at {P}: {p_fee_x}.
p_fee_x missing: how much each person pays
p_fee_x about: person, pays, each, charge
ask: how much money is paid by all of them?
ask: what does {N} collect from everyone together?
far: [find|state] the takings.
far: what amount is in the box afterwards?

@p_more
p_more_x: {p_more_x} [latecomers|guests|helpers] join them
p_more_x: [then|a little later] {p_more_x} more people arrive
ask: how many people is that in all?
ask: how many people are there, the later ones included?
far: [find|state] the full head count.
far: what is the size of the crowd by then?

@p_part
things: people
p_part_p: {p_part_p} of them [stay for supper|want a guided tour|buy a souvenir]
p_part_p: for the second part {p_part_p} of them [sign up|stay]
ask: how many people is that percentage?
ask: how many of the people belong to that part?
far: [find|state] how many that is.
far: what number of places must be kept for them?

@p_eat
p_eat_x: everybody gets {p_eat_x} grams of [rice|bread|salad]
p_eat_x: {N} plans {p_eat_x} grams of [stew|pasta|soup] a head
p_eat_x listing: Helping at {P}: {p_eat_x} grams a head.
p_eat_x missing: how many grams each person gets
p_eat_x about: grams, person, head, helping
ask: how many kilograms of food is that?
ask: how many kilograms must {N} have ready for all?
far: [find|state] the weight of the food in kilograms.
far: what does the kitchen have to cook, in kilograms?

@s_more
s_more_x: walking [about|in the yard] adds {s_more_x} steps
s_more_x: the way home is another {s_more_x} steps
ask: how many steps is that with the walk added?
ask: how many steps does {N} take, walk included?
far: [find|state] what the step meter shows at night.
far: what is the full count of steps?

@s_days
s_days_n: {N} does this on {s_days_n} days
s_days_n: {s_days_n} days go by in the same manner
ask: how many steps is that over all the days?
ask: how many steps does {N} collect in that time?
far: [find|state] the step total of the period.
far: what figure does the meter reach?

@s_burn
s_burn_x: {s_burn_x} steps burn one calorie
s_burn_x: {his} watch counts a calorie for every {s_burn_x} steps
s_burn_x listing: On the stairs of {P} a calorie goes with {s_burn_x} steps.
s_burn_x missing: how many steps burn one calorie
s_burn_x about: steps, calorie, burn
ask: how many calories does {N} burn?
ask: how many calories do these steps use up?
far: [find|state] the number of calories.
far: what does the watch show in calories?

@s_goal
s_goal_x: {his} goal is {s_goal_x} steps
s_goal_x: {N} has promised to do {s_goal_x} steps
s_goal_x listing: Step goal set by {P}: {s_goal_x}.
s_goal_x missing: how many steps the goal is
s_goal_x about: goal, steps
ask: how many steps are missing to the goal?
ask: how many steps must {N} still do for the goal?
far: [find|state] the distance to the goal, in steps.
far: what separates {N} from the goal, counted in steps?

@b_skip
b_skip_x: {b_skip_x} of the pages ahead [are pictures|form the index], which {N} skips
b_skip_x: {he} [leaves out|jumps over] {b_skip_x} pages of [notes|maps] at the end
ask: how many pages does {N} still want to read?
ask: how many pages are ahead without the skipped ones?
far: [find|state] what {he} really has before {him}, in pages.
far: what is left as true reading matter?

@b_days
b_days_x: from now on {he} [reads|does] {b_days_x} pages [a day|each evening]
b_days_x: {his} new pace is {b_days_x} pages a day
b_days_x listing: New pace agreed at {P}: {b_days_x} pages a day.
b_days_x missing: how many pages a day {N} reads from now on
b_days_x about: pages, day, pace, reads
ask: how many more days does {N} need for the rest of the book at the new pace?
ask: how many days will the rest take at the new pace?
far: [find|state] the days until the last page at the new pace.
far: at the new pace, in what number of days is {N} through?

@b_time
b_time_x: a page takes {him} {b_time_x} minutes
b_time_x: {N} needs {b_time_x} minutes for each page
b_time_x listing: {N}, {P}: {b_time_x} minutes a page.
b_time_x missing: how many minutes a page takes
b_time_x about: minutes, page, takes
ask: how many minutes does the rest of the book take?
ask: how many minutes of reading are still ahead of {N}?
far: [find|state] the reading time that is left, in minutes.
far: what does the ending cost in minutes?

@b_pause
b_pause_x: in between {N} is [ill|away] for {b_pause_x} days and reads nothing
b_pause_x: {b_pause_x} days without any reading [come|fall] in between
ask: how many days pass until {N} has finished, the idle ones included?
ask: how many days is it with the pause?
far: [find|state] the full number of days.
far: when, in days from now, is the book closed?

@b_hours
b_hours_x: {he} needs {b_hours_x} minutes on each of these days
b_hours_x: each day's reading takes {b_hours_x} minutes
b_hours_x listing: Reading time a day, {P}: {b_hours_x} minutes.
b_hours_x missing: how many minutes a day the reading takes
b_hours_x about: minutes, day, takes
ask: how many minutes does {N} read on all these days?
ask: how many minutes of reading is that?
far: [find|state] the reading time in minutes.
far: what is the sum of all sittings, in minutes?
"""
