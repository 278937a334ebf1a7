#!/usr/bin/env bash
# Runs gpuwhy lint for action.yml: annotations to the log, Markdown to the job's summary, SARIF to a file; the code is an output.
# Everything that comes from inputs arrives in variables, never in the text of a script.
set -euo pipefail
if [ "${GPUWHY_COMMAND:-}" = "" ]; then
  python3 -I -m venv "$RUNNER_TEMP/gpuwhy" # -I: a venv.py or pip.py of the pull request is not run
  "$RUNNER_TEMP/gpuwhy/bin/python" -I -m pip install --quiet "${GPUWHY_PACKAGE:-$GITHUB_ACTION_PATH}"
  GPUWHY_COMMAND="$RUNNER_TEMP/gpuwhy/bin/gpuwhy"
fi
options=()
[ -z "${GPUWHY_GPU:-}" ] || options+=("--gpu=$GPUWHY_GPU")
[ -z "${GPUWHY_DRIVER:-}" ] || options+=("--driver=$GPUWHY_DRIVER")
[ "${GPUWHY_STRICT:-false}" != true ] || options+=(--strict)
mapfile -t paths < <(printf '%s\n' "${GPUWHY_PATHS:-.}" | sed '/^[[:space:]]*$/d')
code=0
"$GPUWHY_COMMAND" lint --github "${options[@]}" -- "${paths[@]}" || code=$?
"$GPUWHY_COMMAND" lint --markdown "${options[@]}" -- "${paths[@]}" > "$RUNNER_TEMP/gpuwhy.md" || true
"$GPUWHY_COMMAND" lint --sarif "${options[@]}" -- "${paths[@]}" > "$RUNNER_TEMP/gpuwhy.sarif" || true
cat "$RUNNER_TEMP/gpuwhy.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
{ echo "code=$code"; echo "sarif=$RUNNER_TEMP/gpuwhy.sarif"; } >> "$GITHUB_OUTPUT"
