"""The style sheet of the board: that of the results page, and what only the board has."""

from __future__ import annotations

from ..pages.style import STYLE as SHARED

STYLE = (
    SHARED
    + """
.top{background:var(--card);border-bottom:1px solid var(--line);position:sticky;top:0;z-index:2}
.top div{max-width:1180px;margin:0 auto;padding:0 20px;display:flex;flex-wrap:wrap;align-items:center;gap:2px 4px}
.top a{padding:11px 12px;color:var(--ink);text-decoration:none;border-bottom:2px solid transparent}
.top a:hover{background:var(--idle-bg)}
.top a[aria-current]{border-color:var(--held);font-weight:600}
.top .brand{font-weight:700;padding-left:0}.top .brand:hover{background:none}
.top .run{margin-left:auto;color:var(--soft)}
.top .runs{margin-left:auto;display:flex}.top .runs .run{margin:0}
a{color:var(--link)}
:root{--link:#1f5fae;--mark:#ffe9a8;--tool-bg:#f0f3f7;--user-bg:#e9f1fb;--say-bg:#fff}
@media (prefers-color-scheme:dark){:root{--link:#86b7f0;--mark:#6b5410;--tool-bg:#141b23;
--user-bg:#1b2a3c;--say-bg:#1d2732}}
main{padding-top:22px}
header h1{overflow-wrap:anywhere;min-width:0}
.soft{color:var(--soft)}
.lamp{width:auto;min-width:74px;padding:0 8px;white-space:nowrap}
.owner{margin-top:18px;background:var(--card);border:1px solid var(--line);border-radius:10px;border-collapse:separate;
border-spacing:0;overflow:hidden;table-layout:fixed}
.owner th,.owner td{text-align:left;white-space:normal;min-width:0;padding:0;vertical-align:top}
.owner thead th{padding:10px 14px;color:var(--ink);font-weight:600;font-size:15px}
.owner thead small{display:block;color:var(--soft);font-weight:400}
.owner th[scope=row]{padding:12px 14px;font-weight:600}
.owner thead td,.owner th[scope=row]{width:19%}
.cell{display:flex;gap:10px;padding:10px 14px;color:inherit;text-decoration:none;height:100%}
.cell:hover{background:var(--idle-bg)}
.why{font-size:13.5px;line-height:1.4;overflow-wrap:anywhere;min-width:0}
.lights li{padding:0}
.lights a{display:flex;gap:10px;padding:10px 12px;color:inherit;text-decoration:none;min-width:0;width:100%}
.lights a:hover{background:var(--idle-bg);border-radius:10px}
.lights a>span:last-child{min-width:0}
.kpis{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:0 18px}
.kpi td{white-space:normal}.kpi td:last-child{font-size:12.5px;color:var(--soft);overflow-wrap:anywhere;min-width:9em}
.kpi td:nth-child(2){white-space:nowrap}
.crumbs{margin:0 0 10px;display:flex;flex-wrap:wrap;gap:4px 18px}
.tabs{display:flex;flex-wrap:wrap;gap:6px;margin:16px 0}
.tabs a{padding:5px 11px;border:1px solid var(--line);border-radius:8px;background:var(--card);color:var(--ink);
text-decoration:none}
.tabs a[aria-current]{border-color:var(--held);font-weight:600}
.checks td:first-child{min-width:14em}.checks p{margin:3px 0}
.files td{text-align:left;white-space:normal}.files code{font-size:12px}.files th{text-align:left}
b.ok{color:var(--pass)}b.no{color:var(--fail)}
pre{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px;overflow-x:auto;
white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}
form{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px 12px;background:var(--card);
border:1px solid var(--line);border-radius:10px;padding:14px;margin:16px 0 12px}
#sides{grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr))}
label{display:flex;flex-direction:column;gap:3px;font-size:13px;min-width:0}
label.wide{grid-column:1/-1}
input,select,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:7px;
padding:6px 9px;min-width:0;width:100%}
button{width:auto;flex:none;cursor:pointer;padding:6px 16px}
.buttons{margin:0;align-self:end;display:flex;gap:12px;align-items:center;white-space:nowrap}
label span{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.owner th .zh{white-space:nowrap}
:focus-visible{outline:2px solid var(--held);outline-offset:1px}
.episodes{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);border-radius:10px}
.episodes:empty{display:none}
.episodes li+li{border-top:1px solid var(--line)}
.episodes a{display:block;padding:9px 14px;color:inherit;text-decoration:none}
.episodes a:hover{background:var(--idle-bg)}
.marks{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;font-size:12.5px;margin:0}
.chip{padding:1px 8px;border-radius:6px;background:var(--idle-bg);font-weight:500}
.chip.right{background:var(--pass-bg);color:var(--pass)}.chip.wrong{background:var(--fail-bg);color:var(--fail)}
.num{color:var(--soft);font-variant-numeric:tabular-nums}
.said{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;margin-top:4px;
overflow-wrap:anywhere}
.pages{display:flex;gap:16px;margin:12px 0}
.busy{display:block;color:var(--held)}
.loading{opacity:.6}
mark{background:var(--mark);color:inherit;border-radius:3px}
.talk{display:grid;gap:8px;margin:16px 0}
.turn{border:1px solid var(--line);border-radius:10px;padding:9px 14px;max-width:860px;background:var(--say-bg)}
.turn.user{background:var(--user-bg)}.turn.tool{background:var(--tool-bg);margin-left:24px;font-size:14px}
.turn.assistant{margin-left:24px}.turn.ask{border-left:4px solid var(--held)}
.turn.answer{border-left:4px solid var(--train)}
.turn h3{font-size:12.5px;color:var(--soft);font-weight:600;margin:0 0 2px}
.turn p{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.turn .thought{color:var(--soft);font-style:italic;margin-bottom:4px}
.act{color:var(--ink)}
.worth{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:12px;align-items:start}
.worth td{white-space:normal;overflow-wrap:anywhere}.worth td:first-child{min-width:7em}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:18px;align-items:start}
.pair h2{margin:14px 0 8px;overflow-wrap:anywhere}.pair small{font-weight:400;color:var(--soft);font-size:13px}
.pair section{min-width:0}
body.away::before{content:"The board's server has stopped. 看板服务已停止。";display:block;padding:8px 20px;
background:var(--fail-bg);color:var(--fail);font-weight:600}
@media (max-width:640px){main{padding:16px 12px 36px}h1{font-size:22px}.top div{padding:0 12px}.top a{padding:9px 5px}
.owner th[scope=row],.cell{padding:9px 8px}.owner thead th{padding:8px}.owner th[scope=row]{font-size:14px}
.cell{flex-direction:column;gap:5px}
.owner thead td,.owner th[scope=row]{width:25%}.top .run{display:none}.top a{font-size:13.5px}
.lamp{align-self:flex-start}.turn.assistant,.turn.tool{margin-left:10px}
th,td{padding:7px 9px}}
"""
)
