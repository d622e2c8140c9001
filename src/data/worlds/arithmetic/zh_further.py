"""Chinese wordings of the scenes that go on from a result."""

from __future__ import annotations

TEXT = """
@c_off
c_off_p: [凭会员卡|身为老主顾|用积分]，{N}的账单整体减{c_off_p}
c_off_p: {P}对[熟客|会员|早付款者]一律再减{c_off_p}
ask: 优惠之后{N}付多少钱？
ask: 减价后{N}的账单还有多少？
far: [求|说出]减后的金额。
far: {N}真正掏出的是几何？

@c_tax
c_tax_p: 在此之上要加{c_tax_p}的[税|服务费|附加费]
c_tax_p: {P}按全额另收{c_tax_p}[税款|服务费]
ask: 加上附加费，应付多少钱？
ask: 连税带费，{N}要付多少？
far: [求|给出]含税总额。
far: 各种税费入账，末行是什么数？

@c_fee
c_fee_x: [保险|搬运|清洁|送货]又[花去|添了]{c_fee_x}
c_fee_x: {P}还[收|记]{c_fee_x}的[保险|手续|资料]费
ask: 算上这笔费用，{N}付给{P}多少钱？
ask: 加上杂费，{N}共花多少？
far: [求|写出]全部支出。
far: 样样付清，{N}的钱包少了几何？

@c_split
c_split_n: [费用|账单]由{c_split_n}[家|人]平摊
c_split_n: {c_split_n}个[邻居|同事|朋友]凑份子，[均分|每份相等]
ask: 平均一份是多少钱？
ask: 每份摊到多少？
far: [求|告知]单独一份的数目。
far: 各自该往桌上放几何？

@c_coupon
c_coupon_x: {N}[有|用掉]一张{c_coupon_x}的[代金券|礼券]
c_coupon_x: {his}的{kin}送过一张{c_coupon_x}的购物卡，{he}拿来抵了账
ask: 用券之后{N}还要付多少钱？
ask: 抵扣完，{N}剩多少要付？
far: [求|算]需现付的余款。
far: {N}还得凑出几何？

@c_budget
c_budget_x: {N}为此[备了|带了]{c_budget_x}
c_budget_x: {his}的[信封|钱袋]里装着{c_budget_x}
ask: {N}还剩多少钱？
ask: 付完以后，{N}手里余下多少？
far: [求|报出]找回的钱。
far: {N}带回家的还有几何？

@c_wait
c_wait_s: {N}[已攒下|罐子里有]{c_wait_s}
c_wait_s: 其中{c_wait_s}[早就备好|已在抽屉里]
c_wait_w: [往后|从今起]{he}每周省下{c_wait_w}
c_wait_w: {his}的零用每星期能挤出{c_wait_w}
ask: {N}还要几周才凑够？
ask: 余下的钱，{N}得攒多少个星期？
far: [求|告诉{N}]要等的周数。
far: 几个礼拜后{N}付得起全款？

@c_rates
c_rates_n: {N}分{c_rates_n}期等额[付清|缴纳]
c_rates_n: {P}允许{him}拆成{c_rates_n}笔相等的款
ask: 每期付多少钱？
ask: {N}一次要交多少？
far: [求|给出]单笔款额。
far: 逢到期日须拿出几何？

@c_times
c_times_n: 这样的事[一年里|整季]{N}要办{c_times_n}回
c_times_n: 入冬前同样的开销还会出现，前后共{c_times_n}次
ask: {N}总共为此花多少钱？
ask: 这几回加起来花费多少？
far: [求|汇总]全部花销。
far: 长此以往共付几何？

@i_spend
i_spend_x: [房租|材料|汽油|修理][占去|花掉]其中{i_spend_x}
i_spend_x: {N}得[拿出|扣掉]{i_spend_x}[买工具|添材料|修东西]
ask: 付掉开支，{N}还剩多少钱？
ask: 扣除花费后，{N}留下多少？
far: [求|说出]净额。
far: 钱匣里真正的盈余是几何？

@i_give
i_give_p: 手头的钱有{i_give_p}[捐给收容所|送去医院|用于慈善]
i_give_p: {P}从现有数额中[提走|留下]{i_give_p}作[佣金|会费]
ask: 除去那一部分，还有多少钱？
ask: 扣掉这个比例，{N}剩多少？
far: [求|给出]没送出去的部分。
far: {N}能自己支配几何？

@i_split
i_split_n: {i_split_n}个人[均分|平分]这笔钱
i_split_n: 钱在{i_split_n}位[帮手|伙伴|朋友]间等分
ask: 这{i_split_n}人每人得多少钱？
ask: 平均每人分到多少？
far: [求|告诉大家]一个人领到的数。
far: 单个帮手带回家几何？

@i_goal
i_goal_x: {N}[梦想|一心想买][钢琴|小船|织布机]，要{i_goal_x}
i_goal_x: [目标|定额]是{i_goal_x}
ask: 还差多少钱？
ask: 离{i_goal_x}，{N}还缺多少？
far: [求|说出]缺口。
far: {N}距目标尚欠几何？

@i_weeks
i_weeks_n: 同样的情形[接连|重复]{i_weeks_n}[周|个月]
i_weeks_n: {N}这样[干了|做成]{i_weeks_n}轮，回回如此
ask: 这几轮合计多少钱？
ask: 全部轮次下来，{N}有多少钱？
far: [求|汇总]整段时间的款额。
far: 到那时累计几何？

@i_match
i_match_p: [赞助人|基金会|补贴]按现有数额再加{i_match_p}
i_match_p: {P}对已有的钱奖励{i_match_p}
ask: 加上补贴，共有多少钱？
ask: 添了这个比例后，{N}有多少钱？
far: [求|给出]增补后的数。
far: 赞助到账，户头显示几何？

@i_buy
things: 材料包
unit: 个
i_buy_x: {N}拿这笔钱全买[画材|手工|种子]材料包，{i_buy_x}一个
i_buy_x: 钱都换成了材料包，每个{i_buy_x}
i_buy_x listing: {P}代购材料包：{i_buy_x}一个。
i_buy_x missing: 一个材料包多少钱
i_buy_x about: 材料包, 多少钱, 单价
ask: {N}能买多少个材料包？
ask: 这笔钱够买几个材料包？
far: [求|写出]收据上的材料包数。
far: {N}抱走几个材料包？

@i_bonus
i_bonus_x: {P}另发{i_bonus_x}的奖金
i_bonus_x: 此外{N}[因守时|凭全勤]多得{i_bonus_x}
ask: 连奖金共多少钱？
ask: 算上奖励，{N}得多少？
far: [求|说出]全部所得。
far: 额外那笔也到手后，{N}共领几何？

@n_lost
things: 余下的{base}
n_lost_x: {N}[送掉|弄丢|放到一边]{n_lost_x}{unit}{base}
n_lost_x: 有{n_lost_x}{unit}{base}[另作他用|被人拿走]
ask: 还剩多少{unit}{base}？
ask: {N}手上还有多少{unit}{base}？
far: [求|报出]{base}的余量。
far: {N}的存货只剩几{unit}？

@n_pack
things: 捆子
unit: 捆
n_pack_x: {N}把{things}每{n_pack_x}{unit}扎成一捆
n_pack_x: {n_pack_x}{unit}{base}打一捆
n_pack_x listing: {P}打捆规格：{n_pack_x}{unit}{base}一捆。
n_pack_x missing: 多少{unit}{base}打一捆
n_pack_x about: 一捆, 每捆, 打捆
ask: {N}能打成多少捆？
ask: 正好多少捆？
far: [求|给出]捆数。
far: 桌上会码起几捆？

@n_sell
n_sell_x: {things}[卖出|出手]，每{unit}{n_sell_x}
n_sell_x: [商贩|买家|{P}]收{things}，一{unit}给{n_sell_x}
n_sell_x listing: {P}收购{base}：每{unit}{n_sell_x}。
n_sell_x missing: 一{unit}{base}卖多少钱
n_sell_x about: 多少钱, 卖, 收购, 单价
ask: {things}一共卖了多少钱？
ask: {N}靠{things}得到多少钱？
far: [求|算]货款。
far: 买卖成交，过手几何？

@n_share
n_share_n: {things}[平分给|均匀发给]{n_share_n}个[小组|班|货架]
n_share_n: {n_share_n}处各领同样多的{base}
ask: 每处得到多少{unit}{base}？
ask: 平均一份有多少{unit}{base}？
far: [求|说出]单份数量。
far: 其中之一领走几{unit}？

@n_part
things: 余下的{base}
n_part_p: {things}中有{n_part_p}[留给贵宾|扣下备用|单独存放]
n_part_p: {P}从{things}里留出{n_part_p}作储备
ask: 没留下的{base}有多少{unit}？
ask: 除去储备，还有多少{unit}{base}可用？
far: [求|报出]储备以外的数量。
far: 能自由动用几{unit}？

@n_more
things: {base}
n_more_x: {his}的{kin}又[带来|寄来]{n_more_x}{unit}{base}
n_more_x: 旧存的{n_more_x}{unit}{base}也[并了进来|算在一起]
ask: 现在有多少{unit}{base}？
ask: 加上添的，{N}有多少{unit}{base}？
far: [求|给出]{base}的新总数。
far: 清点完是几{unit}？

@h_pay
h_pay_x: {P}每小时付{h_pay_x}
h_pay_x: 工时按一小时{h_pay_x}[结算|计酬]
h_pay_x listing: {P}报酬：每小时{h_pay_x}。
h_pay_x missing: 每小时付多少钱
h_pay_x about: 每小时, 一小时, 多少钱
ask: 这些小时共付多少钱？
ask: {P}要为工时花多少钱？
far: [求|说出]工时费。
far: 出纳得备好几何？

@h_min
h_min_x: [收拾|放回工具|路上走动]又[用去|花了]{h_min_x}分钟
h_min_x: [清场|布置]要多算{h_min_x}分钟
ask: 合起来是多少分钟？
ask: 连这点零头，共需多少分钟？
far: [求|给出]全程分钟数。
far: 秒表走过几分钟？

@h_times
h_times_n: 同样的活[一年|整季]要来{h_times_n}遍
h_times_n: {N}得照样做{h_times_n}回
ask: 所有遍数加起来多少小时？
ask: 全部做完一共要多少小时？
far: [求|说出]小时总数。
far: 总共耗去几个钟头？

@m_hours
m_hours_n: 这样的事[每月|整季]做{m_hours_n}次
m_hours_n: {N}把整套流程走了{m_hours_n}遍
ask: 合计多少小时？
ask: 所有次数共用多少小时？
far: [求|给出]折成小时的总时间。
far: 换算一下是几个钟头？

@m_more
m_more_x: [检查|冲洗|安全测试]再[花|加]{m_more_x}分钟
m_more_x: 完事后{N}用{m_more_x}分钟[打扫|复核]
ask: {N}一共忙了多少分钟？
ask: 连后面那段，要多少分钟？
far: [求|说出]前后分钟数。
far: {N}过几分钟才得空？

@m_parts
m_parts_n: {m_parts_n}个人轮流，时间一样长
m_parts_n: 这段时间等分成{m_parts_n}班
ask: 每班多少分钟？
ask: 一个人负责多少分钟？
far: [求|给出]单班时长（分钟）。
far: 轮到一次要守几分钟？

@k_fuel
k_fuel_l: 车子百公里[耗|烧]{k_fuel_l}升油
k_fuel_l: 每行百公里要{k_fuel_l}升
k_fuel_l listing: {P}车辆油耗：百公里{k_fuel_l}升。
k_fuel_l missing: 百公里耗油多少升
k_fuel_l about: 百公里, 耗油, 油耗
k_fuel_x: 油[卖|是]{k_fuel_x}一升
k_fuel_x: 加油站一升收{k_fuel_x}
k_fuel_x listing: {P}用油：每升{k_fuel_x}。
k_fuel_x missing: 一升油多少钱
k_fuel_x about: 一升, 油价, 多少钱
ask: 跑这些路的油钱是多少？
ask: 全程加油花费多少钱？
far: [求|报出]油费。
far: 路跑完，油站收走几何？

@k_back
k_back_x: 同样的路又走了一遍，外加绕行{k_back_x}千米
k_back_x: 这段里程要[重复|再来]一次，还多出{k_back_x}千米岔道
ask: 连绕路，共多少千米？
ask: 前后算上岔道，{N}走了多少千米？
far: [求|说出]全部里程（千米）。
far: 脚下车下共过几千米？

@k_rest
k_rest_x: [全年|整季]计划是{k_rest_x}千米
k_rest_x: {P}定下{k_rest_x}千米的总目标
ask: 离计划还有多少千米？
ask: {N}还差多少千米没完成？
far: [求|说出]未走的里程（千米）。
far: 距目标尚余几千米？

@k_pace
k_pace_x: 慢组一小时[只走|前进]{k_pace_x}千米
k_pace_x: 另一支慢组走同样的路，时速{k_pace_x}千米
k_pace_x listing: {P}慢组速度：每小时{k_pace_x}千米。
k_pace_x missing: 慢组每小时走多少千米
k_pace_x about: 慢组, 时速, 每小时
ask: 慢组走完这些千米要多少小时？
ask: 换成慢组，一共需要多少小时？
far: [求|给出]慢组的用时（小时）。
far: 慢组得花几个钟头？

@g_price
g_price_x: 一千克[卖|值]{g_price_x}
g_price_x: {P}按每千克{g_price_x}[结算|出价]
g_price_x listing: {P}价格：每千克{g_price_x}。
g_price_x missing: 一千克多少钱
g_price_x about: 千克, 多少钱, 价格
ask: 这些一共值多少钱？
ask: 按重量算，总共多少钱？
far: [求|说出]其价值。
far: 买主该出几何？

@g_sack
things: 袋子
unit: 袋
g_sack_x: 一袋[装|盛]{g_sack_x}千克
g_sack_x: {N}用{g_sack_x}千克的袋子装
g_sack_x listing: {P}袋装规格：{g_sack_x}千克一袋。
g_sack_x missing: 一袋装多少千克
g_sack_x about: 一袋, 每袋, 多少千克
ask: {N}装了多少袋？
ask: 一共需要多少袋？
far: [求|说出]袋数。
far: 最后立起几袋？

@g_waste
g_waste_p: [挑拣|去皮|晾晒]时总重损失{g_waste_p}
g_waste_p: [储存|分拣]中重量缩了{g_waste_p}
ask: 损耗之后剩多少千克？
ask: 还有多少千克能用？
far: [求|说出]净重（千克）。
far: 再过秤是几千克？

@g_more
g_more_x: {his}的{kin}又添{g_more_x}千克
g_more_x: [前几天的|地窖里的]{g_more_x}千克也放到一处
ask: 合在一起多少千克？
ask: 连添的那些，总共多少千克？
far: [求|说出]合重（千克）。
far: 全堆起来有几千克？

@g_part
things: 份子
unit: 份
g_part_x: 按{g_part_x}克一份[分好|分装]
g_part_x: 每份[重|定为]{g_part_x}克
g_part_x listing: {P}分装：每份{g_part_x}克。
g_part_x missing: 一份是多少克
g_part_x about: 一份, 每份, 多少克
ask: 能分成多少份？
ask: {N}可以发出多少份？
far: [求|说出]份数。
far: 一人一份，能喂饱几口？

@l_fill
things: 瓶装品
unit: 瓶
l_fill_x: {N}灌进{l_fill_x}毫升的瓶子
l_fill_x: 一瓶[盛|装]{l_fill_x}毫升
l_fill_x listing: {P}瓶装规格：{l_fill_x}毫升一瓶。
l_fill_x missing: 一瓶装多少毫升
l_fill_x about: 一瓶, 瓶子, 多少毫升
ask: {N}灌满多少瓶？
ask: 全部装完要多少瓶？
far: [求|说出]瓶数。
far: 末了封口几瓶？

@l_price
l_price_x: 一升[值|要]{l_price_x}
l_price_x: 每升须付{l_price_x}
l_price_x listing: {P}：一升{l_price_x}。
l_price_x missing: 一升多少钱
l_price_x about: 一升, 每升, 多少钱
ask: 这些升数共值多少钱？
ask: 所有升数的价钱是多少？
far: [求|说出]折成的款额。
far: 发票上会写几何？

@l_use
l_use_x: 有{l_use_x}升[洒了|漏掉|倒进下水道]
l_use_x: {P}[留|扣]下{l_use_x}升[作清洗用|备用]
ask: 这时还剩多少升？
ask: {N}余下多少升？
far: [求|说出]剩余的升数。
far: 量尺显示几升？

@l_can
things: 提桶
unit: 桶
l_can_x: 用{l_can_x}升的提桶来[运|盛]
l_can_x: 一桶[装|提]{l_can_x}升
l_can_x listing: {P}提桶：每桶{l_can_x}升。
l_can_x missing: 一桶装多少升
l_can_x about: 一桶, 每桶, 多少升
ask: 能装多少桶？
ask: {N}要备多少只桶？
far: [求|说出]桶数。
far: 推车上放几桶？

@p_bus
things: 客车
unit: 辆
p_bus_x: 一辆客车[坐|载]{p_bus_x}人
p_bus_x: 他们乘{p_bus_x}座的客车
p_bus_x listing: {P}用车：每辆{p_bus_x}座。
p_bus_x missing: 一辆客车坐多少人
p_bus_x about: 一辆, 客车, 多少人
ask: 坐满多少辆客车？
ask: {N}要给大家订多少辆客车？
far: [求|说出]客车数。
far: 外头候着几辆客车？

@p_fee
p_fee_x: 每人[付|交]{p_fee_x}
p_fee_x: {P}向每一位[收|要]{p_fee_x}
p_fee_x listing: {P}收费：每人{p_fee_x}。
p_fee_x missing: 每人付多少钱
p_fee_x about: 每人, 多少钱, 收费
ask: 大家一共付了多少钱？
ask: {N}从所有人那里收到多少？
far: [求|说出]收款总额。
far: 事后箱子里有几何？

@p_more
p_more_x: 后来又[来了|加入]{p_more_x}位[客人|帮手|迟到者]
p_more_x: 稍晚添了{p_more_x}人
ask: 合计多少人？
ask: 连后到的，共有多少人？
far: [求|说出]总人数。
far: 人群壮大到几人？

@p_part
things: 人
unit: 名
p_part_p: 其中{p_part_p}[留下吃晚饭|参加导览|买了纪念品]
p_part_p: 有{p_part_p}的人[报名|留下]参加下半场
ask: 这个比例是多少人？
ask: 属于那部分的有多少人？
far: [求|说出]这是几人。
far: 该给他们留几个位子？

@p_eat
p_eat_x: 每人[分到|供应]{p_eat_x}克[米饭|面包|沙拉]
p_eat_x: {N}按人头备{p_eat_x}克[炖菜|面条|热汤]
p_eat_x listing: {P}份量：每人{p_eat_x}克。
p_eat_x missing: 每人分多少克
p_eat_x about: 每人, 多少克, 份量
ask: 一共多少千克食物？
ask: {N}要给所有人准备多少千克？
far: [求|说出]食物的总重（千克）。
far: 厨房得做出几千克？

@d_more
d_more_x: [催款|资料|担保]费另计{d_more_x}
d_more_x: {P}还为[合同|建档]收{d_more_x}
ask: 连这笔费用，{N}共欠{P}多少钱？
ask: 加上杂费，{N}连本带息要还多少？
far: [求|说出]本息加费用的总数。
far: {N}结清{P}的案卷，本息杂费共需几何？

@v_more
v_more_x: [漏水的管子|打翻一次|返工]又[耗掉|用去]{v_more_x}升
v_more_x: 另外白白流走{v_more_x}升
ask: 连这些，共用多少升？
ask: {N}总共记下多少升？
far: [求|说出]全部升数。
far: 末了耗去几升？

@v_can
things: 方桶
unit: 只
v_can_x: 用方桶[取|装]，每只{v_can_x}升
v_can_x: 一只方桶[盛|装]{v_can_x}升
v_can_x listing: {P}方桶：每只{v_can_x}升。
v_can_x missing: 一只方桶装多少升
v_can_x about: 方桶, 一只, 多少升
ask: 合多少只方桶？
ask: {N}把这些升数用完，要倒空多少只方桶？
far: [求|说出]方桶的只数。
far: 墙边会剩几只空方桶？

@w_more
w_more_x: 临走{N}又[搬上|加了]{w_more_x}千克的[机器|木箱|酒桶]
w_more_x: 另有{w_more_x}千克[工具|邮件|冰块]装上
ask: 现在这车重多少千克？
ask: 加了以后，车上共多少千克？
far: [求|说出]最终重量（千克）。
far: 车轴压着几千克？

@w_toll
w_toll_x: 运费一千克{w_toll_x}
w_toll_x: {P}运货按每千克{w_toll_x}[收|算]
w_toll_x listing: {P}运价：每千克{w_toll_x}。
w_toll_x missing: 运一千克多少钱
w_toll_x about: 运费, 千克, 多少钱
ask: 把这些千克都运走要多少钱？
ask: 整批货的运费是多少？
far: [求|说出]应收的运费。
far: 寄件人会收到几何的账单？

@w_lift
w_lift_x: 吊机一次[吊|提]{w_lift_x}千克
w_lift_x: 到站后小车每趟拉{w_lift_x}千克
w_lift_x listing: {P}起重设备：每次{w_lift_x}千克。
w_lift_x missing: 一次能运多少千克
w_lift_x about: 一次, 每次, 每趟, 多少千克
ask: 把货全部搬完要多少趟？
ask: 搬空这批货需要多少次？
far: [求|说出]趟数。
far: 来回几趟地上才清空？

@s_more
s_more_x: 平地上[溜达|走动]又添{s_more_x}步
s_more_x: 回家的路是{s_more_x}步
ask: 连走路，一共多少步？
ask: 算上散步，{N}迈了多少步？
far: [求|说出]夜里计步器的读数。
far: 全部脚步有几何？

@s_days
s_days_n: {N}这样做了{s_days_n}天
s_days_n: 接连{s_days_n}天都是如此
ask: 这些天合计多少级？
ask: {N}这段日子共攒多少级？
far: [求|说出]整段时期的总级数。
far: 计数器最后到几级？

@s_burn
s_burn_x: 每{s_burn_x}级消耗一大卡
s_burn_x: 手表按{s_burn_x}级记一大卡
s_burn_x listing: {P}爬楼：{s_burn_x}级约一大卡。
s_burn_x missing: 爬多少级消耗一大卡
s_burn_x about: 大卡, 多少级, 消耗
ask: {N}消耗多少大卡？
ask: 这些级数合多少大卡？
far: [求|说出]热量（大卡）。
far: 手表上显示几大卡？

@s_goal
s_goal_x: {his}的目标是{s_goal_x}级
s_goal_x: {N}许诺要爬{s_goal_x}级
s_goal_x listing: {P}攀登目标：{s_goal_x}级。
s_goal_x missing: 目标是多少级
s_goal_x about: 目标, 多少级
ask: 离目标还有多少级？
ask: {N}还要爬多少级才达标？
far: [求|说出]距目标的级数。
far: {N}跟目标之间隔着几级？

@b_skip
b_skip_x: 后面有{b_skip_x}页是[插图|索引]，{N}跳过
b_skip_x: {he}略去末尾{b_skip_x}页[注释|地图]
ask: {N}还打算读多少页？
ask: 除掉跳过的，前头有多少页？
far: [求|说出]真正要读的页数。
far: 剩下的正文有几页？

@b_days
b_days_x: 今后{he}[每天|每晚]读{b_days_x}页
b_days_x: 新进度定为一天{b_days_x}页
b_days_x listing: {P}新进度：每天{b_days_x}页。
b_days_x missing: 今后每天读多少页
b_days_x about: 每天, 一天, 多少页, 进度
ask: 按新进度，{N}读完剩下的还要多少天？
ask: 照新进度，余下部分需要几天？
far: [求|说出]按新进度翻到末页的天数。
far: 新进度下，{N}几天可读毕？

@b_time
b_time_x: 读一页要{b_time_x}分钟
b_time_x: {N}每页花{b_time_x}分钟
b_time_x listing: {P}{N}：每页{b_time_x}分钟。
b_time_x missing: 读一页要几分钟
b_time_x about: 一页, 每页, 分钟
ask: 读完剩下的要多少分钟？
ask: {N}前头还有多少分钟的阅读？
far: [求|说出]余下的阅读时间（分钟）。
far: 看到结局得花几分钟？

@b_pause
b_pause_x: 其间{N}[病了|外出]{b_pause_x}天，一页没看
b_pause_x: 中途有{b_pause_x}天搁下书本
ask: 连停下的日子，{N}过多少天读完？
ask: 加上停顿，一共多少天？
far: [求|说出]全部天数。
far: 从现在起几天合上书？

@b_hours
b_hours_x: 这些天里每天要读{b_hours_x}分钟
b_hours_x: 每日阅读占{b_hours_x}分钟
b_hours_x listing: {P}每日阅读：{b_hours_x}分钟。
b_hours_x missing: 每天读几分钟
b_hours_x about: 每天, 分钟
ask: 这些日子{N}共读多少分钟？
ask: 阅读合计多少分钟？
far: [求|说出]阅读总时间（分钟）。
far: 一次次坐下来共几分钟？

@u_spare
u_spare_x: {N}想[多备|添]{u_spare_x}{unit}{base}
u_spare_x: 预留的{base}要{u_spare_x}{unit}
ask: 连备用的，共要多少{unit}{base}？
ask: 加上预留，{N}需要多少{unit}{base}？
far: [求|说出]{base}的总需求。
far: 备货也算，订单上写几{unit}？

@u_have
u_have_x: 抽屉里[翻出|找到]{u_have_x}{unit}{base}，这些不用再弄
u_have_x: {his}的{kin}给了{u_have_x}{unit}{base}，可以少备这些
ask: {N}还需要多少{unit}{base}？
ask: 除去现成的，还要多少{unit}{base}？
far: [求|说出]{base}的缺额。
far: 清单上还欠几{unit}？

@u_box
things: 盒子
unit: 盒
u_box_x: 一盒[有|装]{u_box_x}{unit}
u_box_x: {base}按盒供应，每盒{u_box_x}{unit}
u_box_x listing: 供给{P}的{base}：每盒{u_box_x}{unit}。
u_box_x missing: 一盒有多少{unit}{base}
u_box_x about: 一盒, 每盒
ask: {N}需要多少盒？
ask: 合多少整盒？
far: [求|说出]盒数。
far: 会送来几盒？

@u_each
u_each_x: 一{unit}{base}[要|卖]{u_each_x}
u_each_x: 商家每{unit}收{u_each_x}
u_each_x listing: {P}进{base}：每{unit}{u_each_x}。
u_each_x missing: 一{unit}{base}多少钱
u_each_x about: 多少钱, 单价, {base}
ask: 这些{base}共多少钱？
ask: {N}为{base}付多少钱？
far: [求|说出]花费。
far: 整张订单几何？

@u_price
u_price_x: 一盒{u_price_x}
u_price_x: 每盒{N}付{u_price_x}
u_price_x listing: {P}进货：一盒{u_price_x}。
u_price_x missing: 一盒多少钱
u_price_x about: 一盒, 每盒, 多少钱
ask: 所有盒子共多少钱？
ask: {N}买这些盒要付多少钱？
far: [求|说出]盒子的账款。
far: 货到须付几何？
"""
