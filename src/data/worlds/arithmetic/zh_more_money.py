"""Chinese wordings: scenes that go on from a sum of money."""

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

@d_more
d_more_x: [催款|资料|担保]费另计{d_more_x}
d_more_x: {P}还为[合同|建档]收{d_more_x}
ask: 连这笔费用，{N}共欠{P}多少钱？
ask: 加上杂费，{N}连本带息要还多少？
far: [求|说出]本息加费用的总数。
far: {N}结清{P}的案卷，本息杂费共需几何？
"""
