"""What the style sheets of all pages share: colours for light and dark, type, tables. Nothing is loaded for them."""

from __future__ import annotations

BASE = """
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#16202c;--soft:#5a6675;--line:#dfe4ea;
--pass:#176b3a;--pass-bg:#e3f4e9;--fail:#a81f24;--fail-bg:#fde7e7}
@media (prefers-color-scheme:dark){:root{--page:#10151b;--card:#182029;--ink:#e8edf3;--soft:#9aa7b5;--line:#2b3642;
--pass:#7fd6a0;--pass-bg:#17331f;--fail:#ff9c9c;--fail-bg:#411b1d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 20px 48px}
header{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:8px 24px}
h1{font-size:28px;line-height:1.2;margin:0}
h2{font-size:19px;margin:36px 0 12px}
.zh{color:var(--soft);font-weight:400;font-size:.86em}
.verdict{margin:0;padding:7px 16px;border-radius:8px;font-weight:650}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:8px 14px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
svg{display:block;width:100%;height:auto;overflow:visible}
footer{color:var(--soft);font-size:13px}
"""
