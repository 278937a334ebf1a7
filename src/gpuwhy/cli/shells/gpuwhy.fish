# gpuwhy for fish: gpuwhy completion fish > ~/.config/fish/completions/gpuwhy.fish
function __gpuwhy_offered
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    gpuwhy completion --offer="$now" -- $words 2>/dev/null
end
function __gpuwhy_program
    set -l words (commandline -opc)
    set -l place (contains -i -- -- $words); or return 1
    set -l rest $words[(math $place + 1)..-1] (commandline -ct)
    complete -C (string join " " -- $rest)
end
complete -c gpuwhy -n 'test (count (commandline -opc)) -eq 1' -f
complete -c gpuwhy -n 'not contains -- -- (commandline -opc)' -a '(__gpuwhy_offered)'
complete -c gpuwhy -n 'contains -- -- (commandline -opc)' -f -a '(__gpuwhy_program)'
