"""What the scenes compute. Opening scenes start a story; the others go on from a result of the kind after `<`."""

from __future__ import annotations

from .program import Plan, read_plans

OPENING: dict[str, Plan] = read_plans("""
crates | shop | count | crates n 6..40; per n 6,8,12,15,16,20,24,30; broken n 3..19
    | bottles n = crates * per; good n = bottles - broken | per
stall | shop | income | daily n 12..60; days n 3..12; price $ 2..18 | sold n = daily * days; took $ = sold * price
    | price
printing | work | count | presses n 2..9; ppm n 15..80/5; minutes n 12..90/2
    | each n = ppm * minutes; pages n = presses * each | ppm
harvest | farm | kg | rows n 6..30; trees n 8..25; yield_ w 12..45
    | orchard n = rows * trees; crop w = orchard * yield_ | yield_ trees
legs | road | km | v1 n 40..75/5; h1 n 2..5; v2 n 80..120/5; h2 n 2..5
    | slow n = v1 * h1; fast n = v2 * h2; way n = slow + fast | v1 v2
trips | road | km | route n 8..48; trips n 3..9; days n 4..12 | daily n = route * trips; driven n = daily * days
    | route
wages | pay | income | rate $ 11..38; hours n 4..9; days n 3..14 | worked n = hours * days; pay $ = worked * rate
    | rate
overtime | pay | income | rate $ 12..30; hours n 30..40; over n 3..12; plus $ 3..11
    | normal $ = rate * hours; extra $ = (rate + plus) * over; pay $ = normal + extra | rate
recipe | kitchen | need | grams n 150..650/50; batches n 4..24 | needed n = grams * batches; kilos w = needed / 1000
    | grams
sale | shop | cost | price $ 8..95; many n 3..15; off % 10,15,20,25,30,40
    | full $ = price * many; paid $ = full * (100 - off) / 100 | price
paint | work | cost | a n 3..20; pa $ 5..18; b n 3..20; pb $ 6..25
    | first $ = a * pa; second $ = b * pb; bill $ = first + second | pa pb
together | work | hours | ra n 6..30; rb n 8..34; k a 3..12; total n =(ra + rb) * k
    | both n = ra + rb; time w = total / both | rb ra
tank | house | minutes | rate n 8..45; k a 10..60; had n 100..900/50; cap n =rate * k + had
    | need n = cap - had; time n = need / rate | rate
book | school | unread | daily n 9..45; days n 4..14; rest a 15..240; pages n =daily * days + rest
    | read n = daily * days; left n = pages - read | daily pages
ages | home | none | age n 5..9; gap n 2..6; times n 3..5; years n 7..15
    | sister n = age + gap; mother n = sister * times; later n = mother + years | gap
rental | shop | cost | m M 1,3,4,5,6,7,8,9,10,11; d1 d 12..28; d2 d 2..20; fee $ 4..35
    | days n = days_in_month - d1 + d2; rent $ = days * fee | fee
fines | school | cost | due d 2..12; back d 15..29; books n 2..7; fine $ 0.2,0.25,0.3,0.4,0.5,1.5,2.5
    | late n = back - due; one $ = late * fine; owed $ = one * books | fine
savings | home | income | had $ 20..300/5; weekly $ 6..45; weeks n 5..30 | put $ = weekly * weeks; fund $ = had + put
    | weekly
fuel | road | cost | km n 120..900/20; use w 4..12; price $ 1.2..2.4/0.1
    | litres w = km * use / 100; cost $ = litres * price | use price
tickets | show | income | adults n 20..160; pa $ 9..28; kids n 15..120; pk $ 3..8
    | big $ = adults * pa; small $ = kids * pk; took $ = big + small | pa pk
classes | school | people | classes n 3..12; size n 18..34; ill n 3..15
    | pupils n = classes * size; came n = pupils - ill | size
parcels | road | load | parcels n 12..80; each w 2..18; pallet w 19..40
    | goods w = parcels * each; load w = goods + pallet | each
fence | farm | cost | long n 20..90; wide n 12..60; price $ 4..22
    | around n = 2 * (long + wide); cost $ = around * price | price
tiles | work | supply | long n 4..18; wide n 3..12; per n 9,16,20,25,36 | area n = long * wide; tiles n = area * per
    | per
water | house | use | hourly n 3..28; hours n 4..16; days n 3..14 | daily n = hourly * hours; used n = daily * days
    | hourly
milk | farm | litres | cows n 14..60; each n 16..32; cheese n 100..400/10
    | milk n = cows * each; rest n = milk - cheese | each
sewing | work | none | rolls n 4..14; roll n 20..50/5; shirts n 12..90; per w 1.5,2,2.5,3
    | bought n = rolls * roll; used w = shirts * per; left w = bought - used | per roll
quiz | school | none | right n 12..48; plus n 3..10; wrong n 5..15; minus n 2,3,4
    | won n = right * plus; lost n = wrong * minus; score n = won - lost | plus
laps | sport | feet | laps n 5..24; track n 250..800/50; days n 3..12
    | metres n = laps * track; daily w = metres / 1000; ran w = daily * days | track
pills | house | supply | daily n 2..6; days n 10..60; people n 7..24 | one n = daily * days; stock n = one * people
    | daily
plan | home | cost | fee $ 9..48; months n 4..24; setup $ 15..90/5
    | running $ = fee * months; cost $ = running + setup | fee
hire | shop | cost | base $ 5..20; hourly $ 3..14; hours n 3..11 | timed $ = hourly * hours; cost $ = base + timed
    | hourly
stairs | house | steps | floors n 5..40; steps n 14..26; climbs n 2..9
    | once n = floors * steps; climbed n = once * climbs | steps
hives | farm | kg | hives n 6..30; frames n 6..12; grams n 300..1200/100
    | combs n = hives * frames; honey w = combs * grams / 1000 | frames grams
seeds | farm | count | packets n 5..30; per n 20..100/10; rate % 60..95/5
    | sown n = packets * per; up n = sown * rate / 100 | per
typing | work | minutes | wpm n 35..90/5; k a 6..40; text n =wpm * k; rest n 5..33
    | typed n = text / wpm; time n = typed + rest | wpm
coffee | kitchen | need | cups n 60..260/10; grams n 7..18; days n 5..25
    | daily n = cups * grams; beans w = daily * days / 1000 | grams
solar | house | income | panels n 8..40; kwh w 1.5,2,2.5,3,3.5; days n 10..30; tariff $ 0.1,0.12,0.15,0.2,0.25
    | daily w = panels * kwh; power w = daily * days; earned $ = power * tariff | kwh tariff
run | sport | income | runners n 18..90; km n 4..21; pledge $ 2..9
    | distance n = runners * km; raised $ = distance * pledge | km pledge
shares | pay | income | mine n 2..7; theirs n 2..9; k a 40..900/10; profit $ =(mine + theirs) * k
    | parts n = mine + theirs; part $ = profit / parts; share $ = part * mine | mine theirs
loan | pay | debt | sum_ $ 400..6000/100; pct % 3..9; years n 2..6
    | yearly $ = sum_ * pct / 100; interest $ = yearly * years; back $ = sum_ + interest | pct
village | home | people | last n 200..2000/100; pct % 4..25; moved n 7..60
    | grown n = last * pct / 100; now n = last + grown - moved | last
hotel | show | cost | nights n 2..9; room $ 45..140/5; guests n 2..6; meal $ 6..19
    | sleep $ = nights * room; eat $ = guests * meal * nights; bill $ = sleep + eat | room
machines | work | count | machines n 3..14; hourly n 12..60; hours n 4..12; flawed n 5..45
    | made n = machines * hourly * hours; sound n = made - flawed | hourly
album | home | supply | leaves n 12..48; per n 4..12; have n 20..260 | room n = leaves * per; need n = room - have
    | per
walls | house | use | cover n 5..12; k a 6..40; area n =cover * k; coats n 2,3
    | surface n = area * coats; paint w = surface / cover | cover
project | work | hours | m M 1,3,4,5,6,7,8,9,10,11; d1 d 10..28; d2 d 2..24; daily n 3..9
    | days n = days_in_month - d1 + d2; time n = days * daily | daily
theatre | show | people | rows n 9..36; seats n 12..40; empty n 5..90
    | places n = rows * seats; seen n = places - empty | seats
ferry | road | people | boats n 2..7; seats n 20..140/5; crossings n 3..12
    | once n = boats * seats; carried n = once * crossings | seats
""")

FURTHER: dict[str, Plan] = read_plans("""
c_off | <cost | cost | c_off_p % 5,10,15,20,25,30,40,50 | c_off_v $ = prev * (100 - c_off_p) / 100 |
c_tax | <cost | cost | c_tax_p % 5,6,8,10,12,15,20,25 | c_tax_v $ = prev * (100 + c_tax_p) / 100 |
c_fee | <cost | cost | c_fee_x $ 3..45 | c_fee_v $ = prev + c_fee_x |
c_split | <cost/debt | none | c_split_n n 2..12 | c_split_v $ = prev / c_split_n |
c_coupon | <cost | cost | c_coupon_x $ 4..60 | c_coupon_v $ = prev - c_coupon_x |
c_budget | <cost/debt | none | c_budget_r a 4..160/2; c_budget_x $ =prev + c_budget_r
    | c_budget_v $ = c_budget_x - prev |
c_wait | <cost/debt | none | c_wait_k a 3..26; c_wait_w $ 4..75; c_wait_s $ =prev - c_wait_k * c_wait_w
    | c_wait_gap $ = prev - c_wait_s; c_wait_v n = c_wait_gap / c_wait_w |
c_rates | <cost/debt | none | c_rates_n n 3..24 | c_rates_v $ = prev / c_rates_n |
c_times | <cost | cost | c_times_n n 2..12 | c_times_v $ = prev * c_times_n |
i_spend | <income | income | i_spend_x $ 15..900/5 | i_spend_v $ = prev - i_spend_x |
i_give | <income | income | i_give_p % 5,10,15,20,25,30,40 | i_give_v $ = prev * (100 - i_give_p) / 100 |
i_split | <income | none | i_split_n n 2..9 | i_split_v $ = prev / i_split_n |
i_goal | <income | none | i_goal_r a 15..600/5; i_goal_x $ =prev + i_goal_r | i_goal_v $ = i_goal_x - prev |
i_weeks | <income | income | i_weeks_n n 2..12 | i_weeks_v $ = prev * i_weeks_n |
i_match | <income | income | i_match_p % 5,10,20,25,30,50 | i_match_v $ = prev * (100 + i_match_p) / 100 |
i_buy | <income | count | i_buy_x $ 4..90 | i_buy_v n = prev / i_buy_x | i_buy_x
i_bonus | <income | income | i_bonus_x $ 20..250/5 | i_bonus_v $ = prev + i_bonus_x |
n_lost | <count | count | n_lost_x n 4..60 | n_lost_v n = prev - n_lost_x |
n_pack | <count | count | n_pack_x n 3..60 | n_pack_v n = prev / n_pack_x | n_pack_x
n_sell | <count | income | n_sell_x $ 0.5,0.8,1.2,1.5,2,2.5,3,4,5,6,7,8,9,11 | n_sell_v $ = prev * n_sell_x | n_sell_x
n_share | <count | none | n_share_n n 2..24 | n_share_v n = prev / n_share_n |
n_part | <count | count | n_part_p % 5,10,15,20,25,30,40,60 | n_part_v n = prev * (100 - n_part_p) / 100 |
n_more | <count | count | n_more_x n 8..180 | n_more_v n = prev + n_more_x |
h_pay | <hours | income | h_pay_x $ 9..44 | h_pay_v $ = prev * h_pay_x | h_pay_x
h_min | <hours | minutes | h_min_x n 8..55 | h_min_t n = prev * 60; h_min_v n = h_min_t + h_min_x |
h_times | <hours | hours | h_times_n n 2..8 | h_times_v w = prev * h_times_n |
m_hours | <minutes | hours | m_hours_n n 3..40 | m_hours_t n = prev * m_hours_n; m_hours_v w = m_hours_t / 60 |
m_more | <minutes | minutes | m_more_x n 6..48 | m_more_v n = prev + m_more_x |
m_parts | <minutes | none | m_parts_n n 2..9 | m_parts_v w = prev / m_parts_n |
k_fuel | <km | cost | k_fuel_l w 4,5,6,8,10,12; k_fuel_x $ 1.2..2.5/0.1
    | k_fuel_t w = prev * k_fuel_l / 100; k_fuel_v $ = k_fuel_t * k_fuel_x | k_fuel_l k_fuel_x
k_back | <km/feet | feet | k_back_x w 5..60 | k_back_t w = prev * 2; k_back_v w = k_back_t + k_back_x |
k_rest | <km/feet | none | k_rest_r a 6..240; k_rest_x w =prev + k_rest_r | k_rest_v w = k_rest_x - prev |
k_pace | <km/feet | hours | k_pace_x n 4,5,6,8,9,10,12,15,16,20,24,25,30,40 | k_pace_v w = prev / k_pace_x | k_pace_x
g_price | <kg | income | g_price_x $ 0.5,0.8,1.5,2,2.5,3,4,6,8,9,12 | g_price_v $ = prev * g_price_x | g_price_x
g_sack | <kg | count | g_sack_x w 2,4,5,8,10,15,20,25,40,50 | g_sack_v n = prev / g_sack_x | g_sack_x
g_waste | <kg | kg | g_waste_p % 5,10,15,20,25,30 | g_waste_v w = prev * (100 - g_waste_p) / 100 |
g_more | <kg | kg | g_more_x w 6..140 | g_more_v w = prev + g_more_x |
g_part | <kg | count | g_part_x n 50,80,125,150,200,250,300,400,450,500
    | g_part_t w = prev * 1000; g_part_v n = g_part_t / g_part_x | g_part_x
l_fill | <litres | count | l_fill_x n 125,200,250,330,400,500,700,750
    | l_fill_t w = prev * 1000; l_fill_v n = l_fill_t / l_fill_x | l_fill_x
l_price | <litres | income | l_price_x $ 0.5,0.8,1.2,1.5,2,2.5,3,4,5 | l_price_v $ = prev * l_price_x | l_price_x
l_use | <litres | litres | l_use_x w 4..90 | l_use_v w = prev - l_use_x |
l_can | <litres | count | l_can_x w 3..40 | l_can_v n = prev / l_can_x | l_can_x
p_bus | <people | count | p_bus_x n 4..60 | p_bus_v n = prev / p_bus_x | p_bus_x
p_fee | <people | income | p_fee_x $ 2..24 | p_fee_v $ = prev * p_fee_x | p_fee_x
p_more | <people | people | p_more_x n 4..75 | p_more_v n = prev + p_more_x |
p_part | <people | none | p_part_p % 5,10,20,25,30,40,60,75 | p_part_v n = prev * p_part_p / 100 |
d_more | <debt | debt | d_more_x $ 15..140/5 | d_more_v $ = prev + d_more_x |
v_more | <use | use | v_more_x w 4..66 | v_more_v w = prev + v_more_x |
v_price | <use | cost | v_price_x $ 0.5,0.8,1.2,1.5,2,2.5,3,4,5 | v_price_v $ = prev * v_price_x | v_price_x
y_more | <need | need | y_more_x w 2..60 | y_more_v w = prev + y_more_x |
y_have | <need | need | y_have_x w 2..30 | y_have_v w = prev - y_have_x |
y_price | <need | cost | y_price_x $ 0.5,0.8,1.5,2,2.5,3,4,6,8,9,12 | y_price_v $ = prev * y_price_x | y_price_x
y_bag | <need | supply | y_bag_x w 0.2,0.25,0.4,0.5,0.75,1.5,2,2.5,3,4,5,6,8 | y_bag_v n = prev / y_bag_x | y_bag_x
v_can | <use | supply | v_can_x w 2..40 | v_can_v n = prev / v_can_x | v_can_x
w_more | <load | load | w_more_x w 6..160 | w_more_v w = prev + w_more_x |
w_toll | <load | cost | w_toll_x $ 0.5,0.8,1.2,1.5,2,2.5,3,4 | w_toll_v $ = prev * w_toll_x | w_toll_x
w_lift | <load | none | w_lift_x w 5..150 | w_lift_v n = prev / w_lift_x | w_lift_x
s_more | <steps | steps | s_more_x n 40..900/10 | s_more_v n = prev + s_more_x |
s_days | <steps | steps | s_days_n n 3..15 | s_days_v n = prev * s_days_n |
s_burn | <steps | none | s_burn_x n 10,12,15,16,20,24,25 | s_burn_v n = prev / s_burn_x | s_burn_x
s_goal | <steps | none | s_goal_r a 60..900/20; s_goal_x n =prev + s_goal_r | s_goal_v n = s_goal_x - prev | s_goal_x
b_skip | <unread | unread | b_skip_x n 3..40 | b_skip_v n = prev - b_skip_x |
b_days | <unread | unday | b_days_x n 4..60 | b_days_v n = prev / b_days_x | b_days_x
b_time | <unread | minutes | b_time_x n 2..6 | b_time_v n = prev * b_time_x | b_time_x
b_pause | <unday | unday | b_pause_x n 2..11 | b_pause_v n = prev + b_pause_x |
b_hours | <unday | minutes | b_hours_x n 20..75/5 | b_hours_v n = prev * b_hours_x | b_hours_x
u_spare | <supply | supply | u_spare_x n 6..120 | u_spare_v n = prev + u_spare_x |
u_have | <supply | supply | u_have_x n 5..150 | u_have_v n = prev - u_have_x |
u_box | <supply | boxes | u_box_x n 3..80 | u_box_v n = prev / u_box_x | u_box_x
u_each | <supply | cost | u_each_x $ 0.4,0.5,0.8,1.2,1.5,2,2.5,3,4 | u_each_v $ = prev * u_each_x | u_each_x
u_price | <boxes | cost | u_price_x $ 4..45 | u_price_v $ = prev * u_price_x | u_price_x
p_eat | <people | need | p_eat_x n 80,100,120,150,200,250,300 | p_eat_t n = prev * p_eat_x; p_eat_v w = p_eat_t / 1000
    | p_eat_x
""")
