"""The style sheet of the results page: light and dark, wide and narrow, nothing loaded from anywhere."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#16202c;--soft:#5a6675;--line:#dfe4ea;
--train:#7fb0ea;--held:#c2600a;--pass:#176b3a;--pass-bg:#e3f4e9;--fail:#a81f24;--fail-bg:#fde7e7;--idle-bg:#eceff3}
@media (prefers-color-scheme:dark){:root{--page:#10151b;--card:#182029;--ink:#e8edf3;--soft:#9aa7b5;--line:#2b3642;
--train:#4d7fb8;--held:#f2a65a;--pass:#7fd6a0;--pass-bg:#17331f;--fail:#ff9c9c;--fail-bg:#411b1d;--idle-bg:#242e39}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 20px 48px}
header{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:8px 24px}
h1{font-size:28px;line-height:1.2;margin:0}
h2{font-size:19px;margin:36px 0 12px}
h3{font-size:15px;margin:0 0 6px}
.zh{color:var(--soft);font-weight:400;font-size:.86em}
.verdict{margin:0;padding:7px 16px;border-radius:8px;font-weight:650}
.green{background:var(--pass-bg);color:var(--pass)}
.red{background:var(--fail-bg);color:var(--fail)}
.grey{background:var(--idle-bg);color:var(--soft)}
.next{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px;margin:18px 0 0;
overflow-wrap:anywhere}
.next p{margin:0}
.lights{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:10px;padding:0;margin:0;
list-style:none}
.lights li{display:flex;gap:10px;background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:10px 12px;min-width:0}
.lights b{display:block;line-height:1.3;font-weight:550}
.lights small{color:var(--soft);overflow-wrap:anywhere}
.lamp{flex:none;width:52px;height:24px;line-height:24px;border-radius:6px;text-align:center;font-size:12px;
font-weight:650}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:8px 14px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left;font-weight:500;white-space:normal;min-width:11em}
thead th{color:var(--soft);font-size:13px;font-weight:500}
tbody tr:last-child th,tbody tr:last-child td{border-bottom:0}
.reasons{list-style:none;margin:0;padding:0;display:grid;gap:10px}
.reasons li{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--fail);border-radius:10px;
padding:10px 16px;overflow-wrap:anywhere}
.reasons p{margin:2px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:12px}
.cards article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 14px 8px;min-width:0}
svg{display:block;width:100%;height:auto}
svg text{fill:var(--soft);font-size:11px}
svg .y{text-anchor:end}svg .x,svg .none{text-anchor:middle}
.grid{stroke:var(--line)}
path.train{fill:none;stroke:var(--train);stroke-width:1.6}
path.held{fill:none;stroke:var(--held);stroke-width:2}
circle.held{fill:var(--held);stroke:var(--card);stroke-width:1.5}
.legend{color:var(--soft);font-size:13px;margin:0 0 10px}
.legend i{display:inline-block;width:18px;height:3px;margin:0 6px 3px 0;background:var(--train)}
.legend i.held{background:var(--held)}
.legend span{margin-right:18px}
.alarm{color:var(--fail);font-weight:650}
footer{color:var(--soft);font-size:13px}
footer li,code{overflow-wrap:anywhere}
"""
