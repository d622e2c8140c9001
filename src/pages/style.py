"""The style sheet of the results page: light and dark, wide and narrow, nothing loaded from anywhere."""

from __future__ import annotations

from .base_style import BASE

STYLE = (
    BASE
    + """
:root{--train:#7fb0ea;--held:#c2600a;--idle-bg:#eceff3}
@media (prefers-color-scheme:dark){:root{--train:#4d7fb8;--held:#f2a65a;--idle-bg:#242e39}}
h3{font-size:15px;margin:0 0 6px}
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
th:first-child,td:first-child{text-align:left;font-weight:500;white-space:normal;min-width:11em;
overflow-wrap:anywhere}
.words th,.words td{text-align:left}
thead th{color:var(--soft);font-size:13px;font-weight:500}
tbody tr:last-child th,tbody tr:last-child td{border-bottom:0}
.reasons{list-style:none;margin:0;padding:0;display:grid;gap:10px}
.reasons li{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--fail);border-radius:10px;
padding:10px 16px;overflow-wrap:anywhere}
.reasons p{margin:2px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:12px}
.cards article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 14px 8px;min-width:0}
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
footer li,code{overflow-wrap:anywhere}
"""
)
