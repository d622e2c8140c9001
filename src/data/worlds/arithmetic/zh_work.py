"""Chinese wordings: workshops, houses, kitchens."""

from __future__ import annotations

TEXT = """
@printing
places: 印刷厂, 图文社, 出版社, 印务公司
nouns: item=sheet
things: {item}
unit: {item_m}
open: {N}在{P}[盯着|监督]一批[加急的|连夜赶的]{item}
open: {when}，{P}[替客户|给镇上]印{item}，{N}[当班|照看机器]
presses: [同时开着|开动]{presses}台印刷机
presses: {N}启动了{presses}台机器
ppm: 每台[一分钟|每分钟][出|印]{ppm}{item_m}
ppm: 一分钟里单台机器[吐出|完成]{ppm}{item_m}{item}
ppm listing: {P}单机速度：每分钟{ppm}{item_m}{item}。
ppm missing: 一台机器每分钟印多少{item_m}
ppm about: 每分钟, 一分钟, 机器, 速度
minutes: 机器[不停地转了|运转]{minutes}分钟
minutes: {minutes}分钟后[断电|铃响]才停
ask: {P}[这段时间|一共]印出多少{item_m}{item}？
ask: 所有机器加起来，{N}得到多少{item_m}{item}？
far: [求|报出]成品那一摞的数量。
far: 在{N}眼皮底下，总印数是几{item_m}？

@paint
order: fixed
places: 油漆店, 建材行, 船具店, 五金店
open: {N}用{P}买来的漆调色，[刷船|刷谷仓|刷长栅栏]
open: {N}从{P}订了[{colour}色漆|一深一浅的漆]
a: 哑光漆[要|用了|取]{a}升
a: {he}先倒进{a}升哑光的
pa: 哑光漆[每升|一升]{pa}
pa: {P}的哑光漆卖{pa}一升
pa listing: {P}哑光漆：每升{pa}。
pa missing: 哑光漆一升多少钱
pa about: 哑光, 一升, 多少钱
b: 亮光漆[兑入|掺了]{b}升
b: 桶里又添{b}升亮光的
pb: 亮光漆一升[要|卖]{pb}
pb: 买亮光漆，{N}每升付{pb}
pb listing: {P}亮光漆：每升{pb}。
pb missing: 亮光漆一升多少钱
pb about: 亮光, 一升, 多少钱
ask: {N}买这些漆总共付{P}多少钱？
ask: 调好的漆花了{N}多少钱？
far: [说出|求]收银条上的金额。
far: {N}那一大桶值几何？

@together
places: 作坊, 社区中心, 修理铺, 工作室, 青年活动站
nouns: item=task
open: {N}、{N2}在{P}[合干|分担]一桩大活
open: 在{P}，{N}[拉上|找来]{N2}一起[赶制|准备]{item}
ra: {N}一小时[能做|完成]{ra}{item_m}
ra: 每小时{N}[做得出|弄好]{ra}{item_m}{item}
ra listing: {P}记录：{N}每小时{ra}{item_m}。
ra missing: {N}一小时做多少{item_m}
ra about: {N}, 小时, 做多少
rb: {N2}的速度是[每小时|一小时]{rb}{item_m}
rb: {N2}一个钟头[干完|处理]{rb}{item_m}
rb listing: {P}记录：{N2}每小时{rb}{item_m}。
rb missing: {N2}一小时做多少{item_m}
rb about: {N2}, 小时, 做多少
total: [订单|任务]是{total}{item_m}{item}
total: [总共|一共]有{total}{item_m}{item}[等着|要做]
ask: {N}、{N2}同时动手，做完这些{item}要几小时？
ask: 一起干的话，{N}他们需要多少小时？
far: [求|算]最后一件完工前的小时数。
far: 过几个钟头，搭档俩才能收工回家？

@tiles
places: 游泳馆, 大食堂, 面包坊, 医院, 俱乐部
things: 瓷砖
unit: 块
open: {N}给{P}的[大厅|正屋|走廊]铺新地面
open: {when}，{P}[撬掉旧地板|翻修地面]，{N}[负责丈量|管订砖]
long+wide: 屋子长{long}米、宽{wide}米
long+wide: {he}量得一边{long}米，另一边{wide}米
per: 每平方米[用|铺]{per}块[瓷砖|]
per: {per}块砖[正好|才]铺满一平方米
per listing: {P}铺地标准：每平方米{per}块砖。
per missing: 一平方米铺多少块瓷砖
per about: 平方米, 多少块, 瓷砖
ask: {N}给{P}铺地要用多少块瓷砖？
ask: 把{N}量的屋子铺满，得多少块砖？
far: [求|写出]该向窑厂订的数量。
far: 这活儿要备下几块瓷砖？

@sewing
places: 裁缝铺, 戏服工坊, 缝纫间, 纺织厂
nouns: item=garment
open: {N}在{P}[缝|裁]{item}
open: {P}接了[一单|一笔]{item}的活，{N}[踩缝纫机|管布料]
rolls: {he}[搬来|拆开]{rolls}卷[棉布|亚麻|呢料]
rolls: 库里[备着|有]{rolls}卷布
roll: 一卷[长|有]{roll}米
roll: 每卷布绕了{roll}米
roll listing: {P}布料：每卷{roll}米。
roll missing: 一卷布有多少米
roll about: 一卷, 每卷, 多少米
shirts: [学校|剧团|客人]订了{shirts}{item_m}
shirts: 单子上要{shirts}{item_m}{item}
per: 做一{item_m}[费|用]布{per}米
per: 每{item_m}{item}[裁掉|需要]{per}米
per listing: {P}用料：一{item_m}{item}{per}米。
per missing: 做一{item_m}{item}用多少米布
per about: 多少米, 用布, {item}
ask: {N}做完{item}后还剩多少米布？
ask: 交完这单，{P}余下多少米布料？
far: [求|量出]剩布的长度（米）。
far: {N}能放回架上几米？

@typing
order: fixed
places: 律师楼, 新闻社, 档案室, 翻译所
open: {N}替{P}[录入|誊打]一份[报告|手稿|讲稿]
open: {when}，{P}交给{N}一[篇|份][手写稿|长记录]，要打成电子版
text: [全文|稿子]共{text}字
text: 要敲的有{text}个字
wpm: {he}每分钟[打|敲]{wpm}字
wpm: {his}的手速是一分钟{wpm}个字
wpm listing: {P}录入员{N}：每分钟{wpm}字。
wpm missing: {N}每分钟打多少字
wpm about: 每分钟, 一分钟, 打字, 多少字
rest: 中途[歇了|喝茶用去]{rest}分钟
rest: 接[电话|客人]耽搁{rest}分钟
ask: 从头到尾连歇息，{N}要多少分钟？
ask: 算上耽搁，打完这份稿子共几分钟？
far: [求|说出]{N}坐在桌前的分钟数。
far: {P}要等几分钟才读得到清稿？

@machines
order: fixed
places: 玩具厂, 金属厂, 注塑厂, 总装车间
nouns: item=part
things: {item}
unit: {item_m}
open: {N}是{P}的[班长|值班员]，厂里[生产|制造]{item}
open: {when}，{N}到{P}[顶班|带班]，产品是{item}
machines: 车间里[转着|开着]{machines}台机器
machines: 生产线共{machines}台设备
hourly: 一台每小时[冲出|造出]{hourly}{item_m}
hourly: 每个钟头，单台[产|做]{hourly}{item_m}{item}
hourly listing: {P}单机产量：每小时{hourly}{item_m}。
hourly missing: 一台机器每小时做多少{item_m}
hourly about: 每小时, 机器, 产量
hours: 这个班[持续|上了]{hours}小时
hours: {hours}个钟头后汽笛才响
flawed: [质检|抽查]淘汰{flawed}{item_m}
flawed: 检验员[挑掉|退回]{flawed}{item_m}次品
ask: {N}这个班交出多少{item_m}合格的{item}？
ask: {P}有多少{item_m}{item}通过了检验？
far: [求|上报]本班良品数。
far: {N}在记录里该写几{item_m}合格？

@project
places: 档案馆, 发掘现场, 社区花园, 制片厂, 造船工地
open: {N}在{P}[参与|主持]一项[修缮|勘测|发掘|重建]
open: {P}[派给|交给]{N}一项[新工程|特别任务]
d1+d2: 工期从{m}{d1}日的次日算起，到{next_m}{d2}日[为止|那天结束]
d1+d2: {m}{d1}日过后的第一天[开工|动手]，{next_m}{d2}日是最后一天
daily: {he}每天[投入|干]{daily}小时
daily: 一天[要花|占去]{daily}个钟头
daily listing: {P}每日工时：{daily}小时。
daily missing: 每天干几小时
daily about: 每天, 小时, 工时
ask: {N}在这段日子里共干多少小时？
ask: {N}为{P}的工程花了多少小时？
far: [求|汇总]{N}的工时。
far: 整段工期折合几个工时？

@tank
order: fixed
places: 渔场, 消防队, 游泳池, 温室, 奶站
open: {N}给{P}的[大水箱|水池]灌水
open: {when}，{P}的水箱要灌满，{N}[打开阀门|开动水泵]
cap: 水箱[容量|装满]{cap}升
cap: 里面能盛{cap}升
had: [原先|箱里]已有{had}升
had: {N}看到[水位表|刻度]是{had}升
rate: 水泵每分钟[送|抽进]{rate}升
rate: 一分钟流入{rate}升
rate listing: {P}水泵流量：每分钟{rate}升。
rate missing: 水泵每分钟送多少升水
rate about: 水泵, 每分钟, 多少升
ask: {P}的水箱要多少分钟才满？
ask: {N}得让水泵转多少分钟？
far: [告诉{N}|求]几分钟后可以关阀。
far: 要等候几分钟？

@water
places: 寄宿公寓, 大棚, 运动场, 洗衣厂, 园林处
open: {N}在{P}[抄水表|管水路]
open: {when}，{P}的喷淋[打开了|在用]，{N}[做记录|逐日登记]
hourly: 系统每小时[耗|用]{hourly}升
hourly: 一个钟头管子里[流过|走掉]{hourly}升
hourly listing: {P}耗水：每小时{hourly}升。
hourly missing: 系统每小时用多少升水
hourly about: 每小时, 多少升, 用水
hours: 每天[开|运行]{hours}小时
hours: 一天里它工作{hours}个钟头
days: 这样[过了|持续]{days}天
days: {N}[让它照此|一直]开了{days}天
ask: {P}这些天共用多少升水？
ask: {N}记录期间，流过多少升水？
far: [求|给出]总耗水量（升）。
far: 水务局会按几升收费？

@pills
places: 养老院, 动物救助站, 康复诊所, 疗养院
things: 药片
unit: 片
open: {N}在{P}[管药|采购药品]
open: {P}的[维生素|铁剂|钙片]快用完了，{N}[列清单|打电话给药房]
people: 名单上有{people}位[住户|病人]
people: 需要服用的[共|有]{people}人
daily: 每人每天[吃|服]{daily}片
daily: 一天的量是一人{daily}片
daily listing: {P}日服量：每人{daily}片。
daily missing: 每人每天吃几片
daily about: 每天, 几片, 每人
days: 这批药[得够|要撑]{days}天
days: {N}按{days}天[备货|计划]
ask: {N}要给{P}备多少片药？
ask: 这段日子一共发出多少片？
far: [求|报出]{N}的订货量。
far: 让{P}人人够用，库存须有几片？

@stairs
places: 灯塔, 钟楼, 写字楼, 古堡, 水塔
things: 台阶
unit: 级
open: {N}在{P}[送信|巡逻]，电梯[坏了|停运]
open: 为了[健身|备战登山]，{N}爬{P}的楼梯
floors: {he}每趟上{floors}层
floors: 从底到顶[共|有]{floors}层
steps: 一层[有|是]{steps}级台阶
steps: 每上一层要[迈|踏]{steps}级
steps listing: {P}每层台阶：{steps}级。
steps missing: 每层有多少级台阶
steps about: 每层, 一层, 台阶, 多少级
climbs: {N}[爬了|来回]{climbs}趟
climbs: 这样的攀登[做了|重复]{climbs}遍
ask: {N}在{P}总共上了多少级台阶？
ask: 只算上行，{N}爬了多少级？
far: [求|读出]{N}计步器上的上行数。
far: 几趟加在一块儿是多少级？

@solar
places: 农舍, 学堂, 图书馆, 酒坊, 礼堂
open: {P}屋顶[装了|铺上]太阳能板，{N}[查电表|管账]
open: {N}把{P}屋顶的光伏电[卖给|送进]电网
panels: 屋顶[装着|铺了]{panels}块板
panels: 朝南的电池板[共|有]{panels}块
kwh: 一块每天[发|出]{kwh}度电
kwh: 单块板子日产{kwh}度
kwh listing: {P}单块板日发电：{kwh}度。
kwh missing: 一块板每天发多少度电
kwh about: 一块, 每天, 多少度
days: [晴了|日头好的有]{days}天
days: {N}统计了{days}个晴天
tariff: 每度[卖|收购价]{tariff}
tariff: 电网按{tariff}一度付钱
tariff listing: {P}上网电价：每度{tariff}。
tariff missing: 一度电卖多少钱
tariff about: 一度, 每度, 电价, 多少钱
ask: {P}靠这些板子在这几天里挣多少钱？
ask: 按{N}的统计，发电给{P}带来多少收入？
far: [求|核对]电费单上的进项。
far: 这些阳光对{P}值几何？

@walls
places: 幼儿园, 画廊, 火车站, 小礼堂, 舞蹈学校
open: {N}给{P}[刷墙|粉刷天花板]
open: {when}，{P}要[换新颜|重新粉刷]，{N}[拿来滚筒|爬上梯子]
area: 墙面[共|合计]{area}平方米
area: 要刷的有{area}平方米
coats: [每面|处处]刷{coats}遍
coats: {N}[涂了|上]{coats}层
cover: 一升漆[够刷|能盖]{cover}平方米
cover: 用一升，{he}可刷{cover}平方米
cover listing: {P}墙漆：每升刷{cover}平方米。
cover missing: 一升漆能刷多少平方米
cover about: 一升, 平方米, 能刷
ask: {N}给{P}刷墙要多少升漆？
ask: 这些墙一共[吃掉|用去]多少升？
far: [求|告诉{N}]该买的漆量（升）。
far: 整桩活耗漆几升？

@recipe
places: 面包房, 糕点铺, 披萨店, 乡村厨房, 食堂
nouns: dish=dough, item=stuff
open: {N}在{P}做{dish}[，招待整条街|，赶一场宴席|]
open: {when}，{P}[接了订单要|供应]{dish}，{N}[称料|和面]
grams: [一炉|每炉][用|要放]{item}{grams}克
grams: {he}给每一炉[称|倒进]{grams}克{item}
grams listing: {P}{dish}：每炉{item}{grams}克。
grams missing: 每炉用多少克{item}
grams about: 每炉, 多少克, {item}
batches: [计划|打算]做{batches}炉
batches: {N}[备了|烤了]{batches}炉
ask: {N}做{dish}要用多少千克{item}？
ask: {P}这些炉共耗{item}多少千克？
far: [求|写出]要买的{item}重量（千克）。
far: {N}的秤上该有几千克？

@coffee
places: 咖啡馆, 咖啡屋, 烘焙坊, 车站吧台, 茶室
open: {N}在{P}[掌吧台|拉花|当咖啡师]
open: {P}[熟客很多|生意兴隆]，{N}[采购豆子|管进货]
cups: 每天[卖|端出]{cups}杯
cups: {he}一天要[做|冲]{cups}杯
grams: 一杯[用|磨]豆{grams}克
grams: 每杯{he}称{grams}克咖啡豆
grams listing: {P}每杯用豆：{grams}克。
grams missing: 一杯用多少克咖啡豆
grams about: 一杯, 每杯, 多少克
days: {P}本月[开|营业]{days}天
days: 进的货[要用|得撑]{days}天
ask: {P}这些天需要多少千克咖啡豆？
ask: {N}一共磨掉多少千克豆子？
far: [求|给出]订货重量（千克）。
far: 地窖里的袋子加起来得重几千克？
"""
