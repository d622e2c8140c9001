#!/usr/bin/env bash
# An RC1 run on this machine: environment, both rounds, training. A failure stops it, prints the last 200 log lines and
# writes reports/rc1/FAIL_<ts>.tgz. Start it again to resume: a stage whose inputs, arguments and outputs are unchanged is
# skipped, and no stored judge reply is paid for again.
#   SCORER_PROVIDER=gemini SCORER_API_KEY=... ./ops/run_local_rc1.sh
#   UNTIL=round1 ./ops/run_local_rc1.sh        # stop after round 1; also round2, trial_gate
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Prints the English or the Chinese text: ASKGATE_LANG (zh or cn, en), else the language of the system.
say () {
  local lang="${ASKGATE_LANG:-${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}}"
  case "$lang" in [zZ][hH]* | [cC][nN]*) echo "$2" ;; *) echo "$1" ;; esac
}

# ============ 0. Environment ============
export PYTHONUNBUFFERED=1
export RUN_MODE=prod REWARD_LIVE_MODE=1
# The config names the model; a BASE_MODEL that names another one would have no effect, so it is refused.
CONFIGURED="$(sed -n 's/^base_model: *"\{0,1\}\([^" #]*\).*/\1/p' configs/ppo_scale.yaml)"
export BASE_MODEL="${BASE_MODEL:-$CONFIGURED}"
if [ "$BASE_MODEL" != "$CONFIGURED" ]; then
  say "BASE_MODEL=$BASE_MODEL, but configs/ppo_scale.yaml has $CONFIGURED: edit base_model there" \
    "BASE_MODEL=$BASE_MODEL，而 configs/ppo_scale.yaml 写的是 $CONFIGURED：请修改其中的 base_model" >&2
  exit 2
fi
export SCORER_PROVIDER="${SCORER_PROVIDER:-gemini}"   # gemini, deepseek_r1, openai, local, ...
# Whether the provider's row in configs/default.yaml says `key_needed: true`. A provider without a row is a server of your own.
needs_key () {
  awk -v row="$1:" '/^    [^ #]/ { own = ($1 == row) } own && $1 == "key_needed:" && $2 == "true" { found = 1 }
    END { exit !found }' configs/default.yaml
}
if [ -z "${SCORER_API_KEY:-}" ] && needs_key "$SCORER_PROVIDER"; then
  say "set SCORER_API_KEY, or SCORER_PROVIDER=local for the judge on this machine" \
    "请先 export SCORER_API_KEY=你的真实Key，或设 SCORER_PROVIDER=local 使用本机评委" >&2
  exit 2
fi
[ -e checkpoints/rc1 ] || rm -f checkpoints/rc1   # a link whose run was removed
mkdir -p logs reports/preflight reports/rc1 data/rollouts checkpoints/rc1/best

# Output goes to the screen and to a log file.
exec > >(tee -a "logs/ops_$(date +%Y%m%d_%H%M%S).log") 2>&1

python_here () { if [ -x .venv/bin/python ]; then echo .venv/bin/python; else echo python3; fi; }

on_error () {
  local code=$?
  trap - ERR
  say "the run failed; collecting the last 200 log lines and key files" "发生错误，正在收集最后200行日志与关键产物……"
  if "$(python_here)" -m src.runtime.failpack; then
    say "archive: reports/rc1/FAIL_*.tgz" "失败归档已生成：reports/rc1/FAIL_*.tgz"
  else
    say "the archive could not be made; send logs/ and reports/preflight/ by hand" "归档未能生成；请手工发送 logs/ 与 reports/preflight/"
  fi
  exit "$code"
}
trap on_error ERR

# ============ 1. Python and packages ============
command -v python3 >/dev/null || { say "python3 is missing: install Python 3.11 or later" "缺少 python3：请安装 Python 3.11 或更高版本"; (exit 2); }
echo "Python version: $(python3 -c 'import sys; print(".".join(map(str, sys.version_info[:2])))')"
make setup
export PATH="$PWD/.venv/bin:$PATH"
# 4-bit weights (finetune.method: qlora) need the extra `gpu`. It is installed before a judge is paid for anything.
if command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then
  python -m pip install --quiet --constraint constraints.txt --editable '.[gpu]'
fi

# ============ 2. Git fingerprints ============
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git status --porcelain > reports/rc1/git_status.txt || true
  git rev-parse HEAD > reports/rc1/git_commit.txt || true
fi

# ============ 3. Disk ============
# An early check; both rounds check it again against the profile.
if ! python - <<'PY'
import shutil, sys
free_gb = shutil.disk_usage(".").free / 2**30
print(f"DISK_{'OK' if free_gb > 50 else 'LOW'} {free_gb:.1f}GB")
sys.exit(free_gb <= 50)
PY
then
  say "free some space: more than 50 GB must be free in $PWD" "磁盘不足：$PWD 需要多于 50GB 的可用空间"
  (exit 2)  # runs the trap with this code
fi

# ============ 4. to 12. The stages of profile rc1, in order ============
# Probe, anti-simulation, shadow set, seed pool and its gates, difficulty, scores, weights, shadow run, penalty, round 1,
# round 2, and with its ticket the trial and, if that passes, the training. `askgate rc1 --list` shows every command.
askgate rc1 --until "${UNTIL:-train}"
if [ -z "${UNTIL:-}" ]; then
  say "trained. Next: askgate rc1 (evaluation), then askgate report" "训练完成。接下来：askgate rc1（评测），再 askgate report"
fi
