"""Chinese wordings: scenes that go on from hours, ways, steps, pages and people."""

from __future__ import annotations

TEXT = """
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
m_more_x: [检查|歇息|收尾]再[花|加]{m_more_x}分钟
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
p_fee_x: 到场者每人[付|交]{p_fee_x}
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
"""
