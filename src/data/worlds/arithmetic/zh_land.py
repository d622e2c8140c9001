"""Chinese wordings: farms, roads, schools, homes, sport."""

from __future__ import annotations

TEXT = """
@harvest
places: 果园, 果场, 庄园, 林场
nouns: fruit=fruit
open: {N}在{P}[摘|采收]{fruit}
open: {when}，{P}的{fruit}[熟透了|压弯枝头]，{N}[带队采摘|扛来梯子]
rows: 园子里[种了|有]{rows}行
rows: 坡上[排着|栽着]{rows}行果树
trees: 每行{trees}棵
trees: 一行[栽|数得]{trees}棵树
trees listing: {P}每行树数：{trees}棵。
trees missing: 每行有多少棵树
trees about: 每行, 一行, 多少棵
yield_: 一棵[结|收]{yield_}千克
yield_: {N}从每棵树上[打下|得到]{yield_}千克
yield_ listing: {P}的{fruit}树单株产量：{yield_}千克。
yield_ missing: 一棵树结多少千克
yield_ about: 一棵, 每棵, 多少千克
ask: {N}在{P}收了多少千克？
ask: 所有行加起来，{fruit}共多少千克？
far: [求|估准]这季收成（千克）。
far: 仓房的磅秤会报出几千克？

@fence
places: 马场, 鹿苑, 葡萄园, 育苗场, 鸟类保护区
open: {N}给{P}的草地[围栏|扎篱笆]
open: 因为[鹿|山羊|野兔]总闯进来，{N}为{P}[修|筹划]一圈围栏
long+wide: 那块地长{long}米、宽{wide}米
long+wide: 图上是{long}米乘{wide}米的长方形
price: 围栏[每米|一米]{price}
price: {N}买一米围栏要付{price}
price listing: {P}采购围栏：每米{price}。
price missing: 围栏一米多少钱
price about: 一米, 每米, 多少钱, 围栏
ask: 绕一整圈，{P}的围栏要花多少钱？
ask: {N}把这块地全围起来得付多少？
far: [求|算]封住每一边的造价。
far: {P}该为材料留出多少款子？

@milk
order: fixed
places: 奶牛场, 高山牧场, 山羊牧场, 农校
open: {N}在{P}[挤奶|照料畜群]
open: {when}，{N}[提着奶桶|早起]到{P}挤奶
cows: 栏里[站着|有]{cows}头
cows: 这群牲口[共|数下来]{cows}头
each: 每头一天[产|出]{each}升
each: 单头日产奶{each}升
each listing: {P}每头日产奶：{each}升。
each missing: 每头一天产多少升奶
each about: 每头, 一天, 多少升
cheese: {cheese}升[送去做奶酪|留给酪坊]
cheese: {N}[留下|取出]{cheese}升做酸奶
ask: {P}当天的奶还剩多少升？
ask: 那天{N}能[送往乳品厂|当鲜奶卖]多少升？
far: [求|报出]奶罐车里的升数。
far: 有几升奶离开{P}？

@hives
places: 蜂场, 养蜂园, 修道院, 荒原农庄
open: {N}在{P}[养蜂|取蜜]
open: {when}，{P}的蜜蜂[忙完花期|采罢椴树花]，{N}[割蜜|摇蜜]
hives: [篱边|椴树下]摆着{hives}箱蜂
hives: 蜂箱[共|有]{hives}只
frames: 每箱[挂|有]{frames}张巢脾
frames: {N}从一箱里[提出|抽出]{frames}张脾
frames listing: {P}每箱巢脾：{frames}张。
frames missing: 每箱有多少张巢脾
frames about: 每箱, 巢脾, 多少张
grams: 一张脾[出|摇得]{grams}克蜜
grams: 每张巢脾能得{grams}克
grams listing: {P}单张巢脾产蜜：{grams}克。
grams missing: 一张巢脾出多少克蜜
grams about: 一张, 巢脾, 多少克
ask: {N}在{P}一共取得多少千克蜂蜜？
ask: 所有蜂箱共出蜜多少千克？
far: [求|给出]蜂蜜净重（千克）。
far: {N}的桶里这一季盛了几千克？

@seeds
order: fixed
places: 种子场, 园艺中心, 校园菜圃, 药草园
nouns: item=flower
things: {item}
unit: {item_m}
open: {N}在{P}[播种|育]{item}
open: {when}，{P}在棚里[培育|栽种]{item}，{N}[撒种|装育苗盘]
packets: {he}[撕开|倒空]{packets}包种子
packets: 下土的种子[用了|共]{packets}包
per: 一包[装|有]{per}粒
per: 每包里[数得|是]{per}粒种子
per listing: {P}{item}种子：每包{per}粒。
per missing: 一包有多少粒种子
per about: 一包, 每包, 多少粒
rate: [最后|没多久]{rate}的种子[发了芽|出了苗]
rate: 出苗率[达到|是]{rate}
ask: {N}在{P}得到多少{item_m}{item}？
ask: {N}撒的种子长出多少{item_m}{item}？
far: [求|数出]苗床上的棵数。
far: {P}能移栽几{item_m}？

@legs
order: fixed
places: 城际铁路, 长途客运, 山谷线, 跨省大巴
open: {N}坐{P}[出远门|去看{his}的{kin}]
open: {when}，{N}搭{P}[横穿全省|长途旅行]
v1: 慢车[时速|每小时走]{v1}千米
v1: {v1}千米是慢车一小时的路程
v1 listing: {P}慢车时速：{v1}千米。
v1 missing: 慢车每小时走多少千米
v1 about: 慢车, 时速, 每小时
h1: {he}在慢车上[坐了|待了]{h1}小时
h1: 头一段乘慢车，[花去|历时]{h1}小时
v2: 快车每小时[跑|行]{v2}千米
v2: 换乘的快车时速{v2}千米
v2 listing: {P}快车时速：{v2}千米。
v2 missing: 快车每小时走多少千米
v2 about: 快车, 时速, 每小时
h2: 快车上[又过了|还要]{h2}小时
h2: 后一段快车[开了|坐了]{h2}个钟头
ask: {N}乘{P}一共走了多少千米？
ask: {N}的旅程全长多少千米？
far: [求|加出]从家门到终点的里程。
far: 下车时，{N}身后已有几千米铁轨公路？

@trips
places: 快递站, 校车队, 送奶队, 配送公司, 邮路
open: {N}为{P}开{vehicle}
open: {when}，{N}[接手|开始跑]{P}的固定线路
route: 一圈[是|长]{route}千米
route: 环线[全程|一趟]{route}千米
route listing: {P}标准线路：{route}千米一圈。
route missing: 一圈是多少千米
route about: 一圈, 多少千米, 线路
trips: {he}每天[跑|转]{trips}圈
trips: 一天的任务是{trips}圈
days: 这阵子{N}[出车|跑了]{days}天
days: {days}天后{he}[交钥匙|轮休]
ask: {N}这段时间给{P}跑了多少千米？
ask: {N}总共行驶多少千米？
far: [求|说出]里程表的增数。
far: 行车日志要记几千米？

@fuel
places: 租车行, 货运公司, 出租车队, 搬家公司
open: {N}开{P}的{vehicle}[去海边|翻山|赶展会]
open: {P}借给{N}一辆{vehicle}，[跑长途|搬家用]
km: 全程{km}千米
km: {N}这一路[开了|要走]{km}千米
use: 这车百公里[烧|耗]油{use}升
use: 每百公里，{vehicle}要喝{use}升油
use listing: {P}{vehicle}：百公里油耗{use}升。
use missing: 这车百公里耗油多少升
use about: 百公里, 油耗, 耗油
price: 油价[每升|一升]{price}
price: 加油站[卖|标]{price}一升
price listing: {P}场内加油：每升{price}。
price missing: 一升油多少钱
price about: 一升, 油价, 多少钱
ask: {N}这趟要付多少油钱？
ask: 路上的油花了{N}多少钱？
far: [求|算出]加油账单。
far: 整条路“喝”掉几块钱的油？

@parcels
order: fixed
places: 货运站, 邮件处理所, 航空货站, 搬运公司
open: {N}在{P}给{vehicle}装货
open: {when}，{N}在{P}[过磅|码货]
parcels: [清单|货单]列了{parcels}件包裹
parcels: {parcels}件包裹[上了车|堆好了]
each: 一件[重|有]{each}千克
each: {N}记下每件{each}千克
each listing: {P}标准包裹：每件{each}千克。
each missing: 一件包裹重多少千克
each about: 一件, 每件, 包裹, 多少千克
pallet: 垫底的托盘[重|有]{pallet}千克
pallet: 托架本身{pallet}千克
ask: 连托盘，{P}这车货重多少千克？
ask: {N}装上去的总共多少千克，托盘在内？
far: [求|报出]地磅上的读数（千克）。
far: 底板要承住几千克？

@ferry
places: 轮渡, 水上巴士, 岛际航线, 港口渡船
things: 乘客
unit: 名
open: {N}在{P}[卖票|解缆绳]
open: {when}，{P}[送游客|载登山客][过河|渡湖|过海湾]，{N}[计数|帮忙]
boats: [下水|当班]的有{boats}条船
boats: 船队[派出|共]{boats}条
seats: 一条船[载|坐]{seats}人
seats: 每船[设|有]{seats}个座位
seats listing: {P}每船座位：{seats}个。
seats missing: 一条船坐多少人
seats about: 一条船, 每船, 多少人, 座位
crossings: 各船都[开了|跑]{crossings}个满员航次
crossings: 每条船满载过渡{crossings}次
ask: {P}当天运了多少人？
ask: 座无虚席的话，{N}数到多少名乘客？
far: [求|上报]当日客流。
far: 码头闸机显示几人次？

@book
order: fixed
places: 读书会, 市图书馆, 书友社, 夜校
things: 书页
unit: 页
open: {N}[在读|迷上了]{P}的一本[长篇|厚书]
open: {P}[借给|推荐给]{N}一本[侦探小说|传记|游记]
pages: 全书{pages}页
pages: 这本书[厚|有]{pages}页
pages listing: {P}本月图书：{pages}页。
pages missing: 这本书有多少页
pages about: 多少页, 全书, 这本书
daily: {he}每天[读|翻]{daily}页
daily: {N}给自己定下一天{daily}页
daily listing: {P}阅读计划：每天{daily}页。
daily missing: {N}每天读多少页
daily about: 每天, 一天, 多少页
days: [到现在|至今]过去了{days}天
days: {he}已这样读了{days}天
ask: {N}还有多少页没读？
ask: 这本书{N}还剩多少页？
far: [求|告诉{N}]未读的部分有多长（页）。
far: 离结局还隔着几页？

@fines
order: fixed
places: 市立图书馆, 校图书馆, 音乐图书馆, 地图档案馆
open: {N}忘了[按时|及时]把书还给{P}
open: {P}给{N}发来催还[通知|短信]
due+back: 书本该{month}{due}日还，{he}{month}{back}日才送来
due+back: [借书单|印章]写的是{month}{due}日，{N}到{month}{back}日才露面
books: [拖欠的|包里]有{books}本
books: 一共是{books}本书
fine: 每本逾期一天[罚|收]{fine}
fine: {P}规定一本书晚一天交{fine}
fine listing: {P}逾期费：每本每天{fine}。
fine missing: 每本书逾期一天罚多少钱
fine about: 逾期, 一天, 罚, 多少钱
ask: {N}该付{P}多少罚款？
ask: 这些书逾期，{N}要交多少钱？
far: [求|算清]{N}要了结的罚金。
far: 柜台后的管理员会开口要几何？

@classes
order: fixed
places: 小学, 中学, 乡村学校, 实验学校
things: 学生
unit: 名
open: {P}[组织郊游|去看博物馆|办远足]，{N}[列名单|张罗一切]
open: {when}，{N}在{P}[点人数|筹备运动会]
classes: [参加|出发]的有{classes}个班
classes: 活动面向{classes}个班级
size: 每班{size}名学生
size: 一个班里[坐着|是]{size}人
size listing: {P}班额：每班{size}人。
size missing: 每班有多少名学生
size about: 每班, 一个班, 多少
ill: [病了|感冒在家]的有{ill}人
ill: {N}得知{ill}名学生[来不了|请假]
ask: {P}有多少名学生参加？
ask: 那天早上{N}点到多少名学生？
far: [求|报出]校门口的实到数。
far: 真正上路的孩子有几名？

@quiz
order: fixed
places: 棋院, 智力社, 语言学校, 数学小组
open: {N}在{P}[参加考试|做测验]
open: {when}，{P}办[比赛|知识竞答]，{N}[报了名|去试试]
right: {he}答对{right}题
right: [正确的|对的]有{right}道
plus: 答对一题[得|记]{plus}分
plus: 每道对题值{plus}分
plus listing: {P}计分：答对一题{plus}分。
plus missing: 答对一题得几分
plus about: 答对, 对题, 几分
wrong: 答错{wrong}题
wrong: {N}[失手|弄错]了{wrong}道
minus: 错一题[扣|倒扣]{minus}分
minus: 每道错题要减{minus}分
ask: {N}在{P}最后得多少分？
ask: 扣掉错题，{N}的总分是多少？
far: [求|写出]证书上的成绩。
far: 榜上{N}的名字旁写着几分？

@ages
order: fixed
places: 老宅, 小院, 别墅, 农家
open: {N}跟姐姐{N2}、妈妈一起住在{P}
open: {P}里[长大|住着]的孩子中{N}最小，上头有姐姐{N2}和妈妈照应
age: {N}今年{age}岁
age: {his}上次生日点了{age}根蜡烛
gap: {N2}比{N}大{gap}岁
gap: {N}、{N2}之间差{gap}岁，{N2}居长
gap listing: {P}记事：{N2}早{N}{gap}年出生。
gap missing: {N2}比{N}大几岁
gap about: 大几岁, 岁数, {N2}
times: 妈妈的年纪是{N2}的{times}倍
times: {N2}的岁数乘{times}就是妈妈的岁数
years: [全家约好|大家盼着]{years}年后[搬家|环海旅行]
years: 再过{years}年要办一场[寿宴|团圆宴]
ask: 到那时妈妈多少岁？
ask: {N}、{N2}的妈妈那一年多大年纪？
far: [求|算]那天蛋糕上妈妈该插的蜡烛数。
far: 届时妈妈高寿几何？

@savings
order: fixed
places: 少年银行, 存钱社, 储蓄互助会, 校园银行
open: {N}在{P}攒钱，想买[吉他|自行车|相机|船票]
open: 为了[买望远镜|去看海]，{N}在{P}开了户头
had: [起初|开户时]有{had}
had: 账上[原有|先存了]{had}
weekly: 每周[存进|添]{weekly}
weekly: {N}一周往里放{weekly}
weekly listing: {P}{N}的定存：每周{weekly}。
weekly missing: {N}每周存多少钱
weekly about: 每周, 一周, 存多少
weeks: {he}[坚持|照此]存了{weeks}周
weeks: 就这样[过去|满]{weeks}个星期
ask: {N}在{P}共有多少钱？
ask: 到那时{N}一共攒下多少？
far: [求|查]户头余额。
far: {N}能取出几何？

@plan
order: fixed
places: 电信公司, 健身房, 宽带公司, 有线电视台, 琴行
open: {N}跟{P}[签了|订下]合同
open: {when}，{N}[成为{P}的客户|加入{P}当会员]
fee: 月费[是|为]{fee}
fee: 每个月[交|扣]{fee}
fee listing: {P}月费：{fee}。
fee missing: 每月收多少钱
fee about: 每月, 月费, 多少钱
months: 合同[期|为期]{months}个月
months: {he}一共[用了|待了]{months}个月
setup: [入会|开通]另收一次性的{setup}
setup: 头一回要交{setup}的[开户|安装]费
ask: 整个合同期{N}要付{P}多少钱？
ask: {N}在{P}前后共花多少？
far: [求|加总]从{N}账户划走的所有款项。
far: 这纸协议总价几何？

@village
order: fixed
places: 村, 镇, 海岛社区, 新居民点
things: 居民
unit: 名
open: {N}掌管{P}的[户籍册|登记簿]
open: {when}，{P}[清点人口|做普查]，{N}[挨家敲门|填表格]
last: 一年前住着{last}人
last: 去年的[名册|统计]是{last}人
last listing: {P}上次登记人数：{last}人。
last missing: 一年前有多少人
last about: 一年前, 去年, 多少人
pct: [新生儿|迁入者]使人数增加了{pct}
pct: 出生加迁入，涨了{pct}
moved: 有{moved}人迁走
moved: {N}划掉了{moved}个离开的名字
ask: {P}现在有多少人？
ask: 如今{N}的名册上有多少人？
far: [求|给出]目前的人口。
far: 今年的报告该填几人？

@album
places: 收藏社, 集邮会, 手账圈, 爱好者俱乐部
nouns: item=sticker
things: {item}
unit: {item_m}
open: {N}用{item}填{P}的收藏册
open: {N}[痴迷|收集]{item}，从{P}[买来|领到]一本册子
leaves: 册子[共|有]{leaves}页
leaves: {leaves}页[空着|装订在内]
per: 每页[放|贴]{per}{item_m}
per: 一页容得下{per}{item_m}{item}
per listing: {P}收藏册：每页{per}{item_m}。
per missing: 每页能放多少{item_m}
per about: 每页, 一页, 能放
have: {N}[已有|攒了]{have}{item_m}
have: 里面[已贴好|放着]{have}{item_m}{item}
ask: 要填满册子，{N}还缺多少{item_m}{item}？
ask: {N}的册子里还差多少{item_m}？
far: [求|数]剩下的空位。
far: {N}尚需搜罗几{item_m}？

@laps
places: 田径队, 跑步学校, 冰场, 自行车队
open: {N}在{P}[训练|练体能]
open: {when}，{N}按{P}的计划[备赛|锻炼]
laps: 每天[跑|完成]{laps}圈
laps: {he}一日的量是{laps}圈
track: 一圈{track}米
track: 场地一周[长|是]{track}米
track listing: {P}场地：一圈{track}米。
track missing: 一圈是多少米
track about: 一圈, 多少米, 场地
days: {N}[练了|坚持]{days}天
days: 满{days}天后{he}[休息|去见教练]
ask: {N}在{P}一共跑了多少千米？
ask: 这样{N}总计多少千米？
far: [求|给出]训练里程（千米）。
far: 日记里会写几千米？

@run
places: 慈善跑, 公益徒步, 义跑会, 滨海跑
open: {N}[筹办|协助]{P}
open: {when}，{P}[开跑|吸引许多人]，{N}[发号码布|记成绩]
runners: [起跑|报名]的有{runners}人
runners: 跑者[共|到场]{runners}名
km: 每人跑{km}千米
km: 赛道对谁都是{km}千米
km listing: {P}赛道：{km}千米。
km missing: 每人跑多少千米
km about: 每人, 多少千米, 赛道
pledge: 赞助方为每千米[捐|出]{pledge}
pledge: 跑一千米，赞助人就给{pledge}
pledge listing: {P}赞助：每千米{pledge}。
pledge missing: 每千米捐多少钱
pledge about: 每千米, 一千米, 捐, 多少钱
ask: {P}一共筹到多少钱？
ask: 所有跑者合起来带来多少捐款？
far: [求|宣布]善款总额。
far: {N}能在大支票上写哪个数？
"""
