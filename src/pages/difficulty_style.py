"""The style sheet of the difficulty page. Buckets are steps of one hue, because they are steps of one scale."""

from __future__ import annotations

from .base_style import BASE

STYLE = (
    BASE
    + """
:root{--easy:#a9cbf3;--medium:#4d8fdc;--hard:#174a8c;--on-easy:#10263f;--on-medium:#fff;--on-hard:#fff;--pool:#c2600a}
@media (prefers-color-scheme:dark){:root{--easy:#2f5483;--medium:#5a98e0;--hard:#c0dbff;--on-easy:#e8f1fc;
--on-medium:#0b1a2c;--on-hard:#0b1a2c;--pool:#f2a65a}}
h3{font-size:15px;margin:0 0 10px}
h1 .zh{font-size:.68em;margin-left:6px}
.verdict{white-space:nowrap}
.verdict.pass{background:var(--pass-bg);color:var(--pass)}
.verdict.fail{background:var(--fail-bg);color:var(--fail)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin-top:20px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.tile b{display:block;font-size:25px;line-height:1.2;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
tbody tr:last-child>*{border-bottom:0}
thead th{color:var(--soft);font-size:13px;font-weight:600}
th:first-child{text-align:left}
tbody th{font-weight:500}
.checks tbody th .zh{display:block;font-size:12.5px}
.checks td span{font-weight:700;margin-right:3px}
.limit{color:var(--soft)}
td.pass span{color:var(--pass)}
td.fail{background:var(--fail-bg);color:var(--fail);font-weight:600}
.remedies ul{list-style:none;margin:0;padding:0;display:grid;gap:10px}
.remedies li{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--fail);border-radius:8px;
padding:12px 16px}
.remedies p{margin:0 0 4px}
code{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--page);padding:1px 6px;
border-radius:4px;overflow-wrap:anywhere}
.buckets tbody th{vertical-align:top;text-align:left}
.buckets tbody tr:nth-last-child(2) th{border-bottom:0}
.buckets tr.pool td{border-bottom:0;padding-bottom:2px}
.buckets tr.balanced td{padding-top:2px}
.buckets .which{text-align:left}
.buckets .wide{width:44%;min-width:230px}
.bar{display:flex;gap:2px;height:20px;border-radius:4px;overflow:hidden}
.bar span{flex-basis:0;font-size:11.5px;line-height:20px;text-align:center}
.bar .easy{background:var(--easy);color:var(--on-easy)}
.bar .medium{background:var(--medium);color:var(--on-medium)}
.bar .hard{background:var(--hard);color:var(--on-hard)}
.key{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
.key.easy{background:var(--easy)}.key.medium{background:var(--medium)}.key.hard{background:var(--hard)}
.legend{display:flex;flex-wrap:wrap;gap:4px 22px;color:var(--soft);font-size:13px;margin:0 0 12px}
.line,.dash{display:inline-block;width:18px;vertical-align:middle;margin-right:6px;border-top:2px solid var(--pool)}
.dash{border-top:1.5px dashed var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(330px,100%),1fr));gap:14px}
article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px 8px}
svg .easy{fill:var(--easy)}svg .medium{fill:var(--medium)}svg .hard{fill:var(--hard)}
svg .pool{fill:none;stroke:var(--pool);stroke-width:1.2;stroke-linejoin:round}
svg .base{stroke:var(--line)}
svg .bound{stroke:var(--soft);stroke-dasharray:3 3;stroke-width:.8;opacity:.75}
svg text{fill:var(--soft);font-size:11.5px}
svg .row{text-anchor:end}svg .tick{text-anchor:middle;font-size:11px}
.quantiles{margin-top:6px;font-size:13px}
.quantiles th,.quantiles td{padding:3px 8px}
.quantiles tbody th{color:var(--soft)}
footer ul{padding-left:18px}
@media (max-width:560px){main{padding:18px 12px 36px}h1{font-size:23px}th,td{padding:7px 9px}.tile b{font-size:21px}
.checks tbody th{white-space:normal;min-width:140px}.tiles{grid-template-columns:1fr 1fr}}
@media print{body{background:#fff}article,.scroll,.tile{break-inside:avoid}}
"""
)
