"""What the RC1 page adds to the style of the other pages."""

from __future__ import annotations

STYLE = """
:root{--easy:#a9cbf3;--medium:#4d8fdc;--hard:#174a8c;--on-easy:#10263f;--on-medium:#fff;--on-hard:#fff;--pool:#c2600a;
--user:#eef3f9;--tool:#f3f1ea;--policy:#fff}
@media (prefers-color-scheme:dark){:root{--easy:#2f5483;--medium:#5a98e0;--hard:#c0dbff;--on-easy:#e8f1fc;
--on-medium:#0b1a2c;--on-hard:#0b1a2c;--pool:#f2a65a;--user:#1d2938;--tool:#24241f;--policy:#141b23}}
html{scroll-behavior:smooth}
h1 .zh{font-size:.62em;margin-left:4px}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:16px 0 0;font-size:14px}
a{color:var(--base);text-decoration:none}a:hover{text-decoration:underline}
a:focus-visible,summary:focus-visible{outline:2px solid var(--base);outline-offset:2px;border-radius:4px}
.points{list-style:none;margin:20px 0 0;padding:0;display:grid;gap:10px;
grid-template-columns:repeat(auto-fit,minmax(min(100%,205px),1fr))}
.points li{background:var(--card);border:1px solid var(--line);border-top:4px solid var(--pass);border-radius:10px;
padding:10px 14px;min-width:0;overflow-wrap:anywhere}
.points li.no{border-top-color:var(--fail)}
.points b{display:block}.points small{color:var(--soft);display:block;margin-top:3px;line-height:1.4}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,205px),1fr));gap:10px;margin:12px 0 16px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px;min-width:0}
.tile span{color:var(--soft);font-size:13px;display:block}
.tile b{display:block;font-size:24px;line-height:1.25;font-variant-numeric:tabular-nums;font-weight:600}
.tile b i{font-style:normal;color:var(--soft);font-weight:400}
.tile em{font-style:normal;font-size:13px;font-variant-numeric:tabular-nums}
.yes{color:var(--pass);font-weight:700}.nay{color:var(--fail);font-weight:700}
.missing{background:var(--idle-bg);color:var(--soft);border-radius:10px;padding:10px 16px;margin:0}
.note{color:var(--soft);margin:0 0 12px;max-width:78ch}
td.wrap{white-space:normal;text-align:left;min-width:16em}
td code,li code,p code{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.even{stroke:var(--soft);stroke-dasharray:4 4;opacity:.6}
.won{fill:var(--base);opacity:.55}.lost{stroke:var(--trained);stroke-width:1.6;fill:none;opacity:.6}
.won.live,.lost.live{opacity:1}.won.live{stroke:var(--ink);stroke-width:1.2}.lost.live{stroke-width:2.6}
.bar{fill:var(--base)}
.shade{fill:var(--card);opacity:.75}
.least{stroke:var(--trained);stroke-width:1.8;stroke-dasharray:5 3}
.ring{fill:none;stroke:var(--base);stroke-width:1.8}
.key{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
.key.easy{background:var(--easy)}.key.medium{background:var(--medium)}.key.hard{background:var(--hard)}
.key.won{background:var(--base);border-radius:50%;opacity:1}
.key.dash{background:none;border-top:2px dashed var(--trained);
height:0;width:18px;vertical-align:middle;border-radius:0}
.key.poolline{background:var(--pool);height:2px;width:18px;vertical-align:middle}
.key.ringed{border:2px solid var(--base);border-radius:50%;width:7px;height:7px}
.key.full{background:var(--trained);border-radius:50%}
.bar-cell .bar{display:flex;gap:2px;height:20px;border-radius:4px;overflow:hidden;min-width:180px}
.bar-cell .bar span{flex-basis:0;font-size:11.5px;line-height:20px;text-align:center}
.bar-cell .easy{background:var(--easy);color:var(--on-easy)}
.bar-cell .medium{background:var(--medium);color:var(--on-medium)}
.bar-cell .hard{background:var(--hard);color:var(--on-hard)}
.difficulty svg .easy{fill:var(--easy)}.difficulty svg .medium{fill:var(--medium)}
.difficulty svg .hard{fill:var(--hard)}
.difficulty svg .pool{fill:none;stroke:var(--pool);stroke-width:1.2}.difficulty svg .base{stroke:var(--line)}
.difficulty svg .bound{stroke:var(--soft);stroke-dasharray:3 3;stroke-width:.8}
.difficulty svg .row{text-anchor:end}.difficulty svg .tick{text-anchor:middle}
details.fold{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:0 0 8px;min-width:0}
details.fold>summary{cursor:pointer;margin:0;padding:10px 14px;color:var(--ink);overflow-wrap:anywhere}
details.fold>div{padding:0 14px 14px}
details.fold .scroll{border-radius:8px}
.tag{display:inline-block;border:1px solid var(--line);border-radius:5px;padding:0 7px;font-size:12.5px;
color:var(--soft);margin-right:4px}
.asked{background:var(--user);border-radius:8px;padding:10px 14px;margin:0 0 10px;
white-space:pre-wrap;overflow-wrap:anywhere}
.known{color:var(--soft);margin:0 0 12px;overflow-wrap:anywhere}.known b{color:var(--ink);font-weight:600}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:14px}
.side{min-width:0}
.side h4{margin:0 0 8px;font-size:14px;border-bottom:3px solid var(--base);padding-bottom:4px}
.side.trained h4{border-color:var(--trained)}
.turn{border:1px solid var(--line);border-radius:8px;padding:6px 10px;margin:0 0 6px;overflow-wrap:anywhere}
.turn.user{background:var(--user)}.turn.tool{background:var(--tool)}.turn.assistant{background:var(--policy)}
.turn small{display:block;color:var(--soft);font-size:12px}
.turn p{margin:0;white-space:pre-wrap}.turn p.thought{color:var(--soft);font-style:italic}
.terms{font-size:13px;margin-top:8px;border-radius:8px}.terms th,.terms td{padding:4px 10px}
.terms td:first-child{min-width:0}
.commands{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px;overflow-x:auto;
margin:0;font:13px/1.7 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.prints td{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12.5px;text-align:left}
.prints td:first-child{font-family:inherit;font-size:14px;white-space:nowrap}
.prints th{text-align:left}
.legend i.key{width:10px;height:10px;margin:0 6px 0 0}.legend i.key.ringed{width:11px;height:11px;background:none}
.legend i.key.dash,.legend i.key.poolline{width:18px;height:2px;margin-bottom:4px}
.legend i.key.dash{height:0;background:none}
.legend{display:flex;flex-wrap:wrap;gap:2px 18px}.legend span{margin:0}
@media (max-width:560px){.tile b{font-size:21px}.turn{padding:6px 8px}details.fold>div{padding:0 10px 12px}}
@media print{body{background:#fff}article,.scroll,.tile,.turn{break-inside:avoid}nav{display:none}}
"""
