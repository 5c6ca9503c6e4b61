"""The command `completions`: generates shell code that completes the command line, from its parser.

loaderlint does not run when a user presses Tab: the generated code contains all words."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from loaderlint.rules import RULES
from loaderlint.settings.settings import PLATFORMS, START_METHODS

#: What follows a flag: nothing, one of several words, a comma-separated list of them, a file or folder, or something
#: that cannot be completed.
Kind = Literal["nothing", "word", "list", "file", "text"]

_RULES = (*(rule.name for rule in RULES), *(rule.code for rule in RULES), "ALL")
#: Lists and words that the parser itself does not check.
_LISTS = {"select": _RULES, "extend_select": _RULES, "ignore": _RULES, "platforms": PLATFORMS}
_WORDS = {"start_method": START_METHODS}
_FILES = ("FILE", "DIR", "PATH")


class Flag(NamedTuple):
    """A flag with all its names, and what follows it."""

    names: tuple[str, ...]
    help: str
    kind: Kind
    words: tuple[str, ...]


class Command(NamedTuple):
    """A command. `places`: the words that it takes as arguments, in addition to files if `takes_files`."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    places: tuple[str, ...]
    takes_files: bool


def completions(parser: argparse.ArgumentParser, shell: str) -> str:
    """The code for `shell`: bash, zsh, fish or powershell."""
    writers: dict[str, Callable[[list[Command], tuple[Flag, ...]], Iterator[str]]] = {
        "bash": _bash,
        "zsh": _zsh,
        "fish": _fish,
        "powershell": _powershell,
    }
    lines = writers[shell](list(_commands(parser)), tuple(_flags(parser)))
    return "".join(f"{line}\n" for line in lines)


# --- what there is ----------------------------------------------------------------------------------------------------


def _commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    (group,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    helps = {one.dest: one.help or "" for one in group._choices_actions}
    for name, sub in group.choices.items():
        places = [one for one in sub._actions if not one.option_strings]
        words = tuple(str(word) for one in places for word in one.choices or ())
        if name == "explain":
            words = _RULES[:-1]
        files = any(any(kind in str(one.metavar) for kind in _FILES) for one in places)
        yield Command(name, helps[name], tuple(_flags(sub)), words, files)


def _flags(parser: argparse.ArgumentParser) -> Iterator[Flag]:
    for action in parser._actions:
        if action.option_strings:
            names = tuple(sorted(action.option_strings, key=len))
            help_text = " ".join((action.help or "").replace("%(default)s", str(action.default)).split())
            yield Flag(names, help_text.replace("%(const)s", str(action.const)), *_value(action))


def _value(action: argparse.Action) -> tuple[Kind, tuple[str, ...]]:
    if action.nargs == 0:
        return "nothing", ()
    if action.choices:
        return "word", tuple(map(str, action.choices))
    if action.dest in _LISTS:
        return "list", _LISTS[action.dest]
    if action.dest in _WORDS:
        return "word", _WORDS[action.dest]
    return ("file", ()) if action.metavar in _FILES else ("text", ())


# --- bash -------------------------------------------------------------------------------------------------------------

_BASH_BEGIN = """\
# bash completions of loaderlint, printed by `loaderlint completions bash`.
_loaderlint() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= flags= words= i
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; break; fi
    done
    COMPREPLY=()"""
_BASH_END = """\
    if [[ $word == -* ]]; then words=$flags; fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _loaderlint loaderlint"""


def _bash(commands: list[Command], flags: tuple[Flag, ...]) -> Iterator[str]:
    yield _BASH_BEGIN
    yield "    case $command,$before in"
    for command in commands:
        for flag in command.flags:
            if flag.kind == "nothing":
                continue
            yield f"    {'|'.join(f'{command.name},{name}' for name in flag.names)})"
            if flag.kind == "word":
                yield f'        COMPREPLY=($(compgen -W "{" ".join(flag.words)}" -- "$word"))'
            elif flag.kind == "list":
                yield f'        COMPREPLY=($(compgen -P "${{word%"${{word##*,}}"}}" -W "{" ".join(flag.words)}"' + (
                    ' -- "${word##*,}"))'
                )
            yield "        return ;;"
    yield "    esac"
    yield "    case $command in"
    names = " ".join(command.name for command in commands)
    yield f'    "") words="{names}" flags="{_all_names(flags)}" ;;'
    for command in commands:
        yield f'    {command.name}) words="{" ".join(command.places)}" flags="{_all_names(command.flags)}" ;;'
    yield "    esac"
    yield _BASH_END


def _all_names(flags: tuple[Flag, ...]) -> str:
    return " ".join(name for flag in flags for name in flag.names)


# --- zsh --------------------------------------------------------------------------------------------------------------


def _zsh(commands: list[Command], flags: tuple[Flag, ...]) -> Iterator[str]:
    yield "#compdef loaderlint"
    yield "# zsh completions of loaderlint, printed by `loaderlint completions zsh`."
    yield "_loaderlint() {"
    yield "    local curcontext=$curcontext state line"
    yield "    local -a commands"
    yield "    commands=("
    yield from (f"        {_single(f'{command.name}:{command.help}')}" for command in commands)
    yield "    )"
    yield "    _arguments -C \\"
    yield from (f"        {spec} \\" for flag in flags for spec in _zsh_specs(flag))
    yield "        '1: :->command' '*:: :->arguments'"
    yield "    case $state in"
    yield "    command) _describe command commands ;;"
    yield "    arguments)"
    yield "        case $words[1] in"
    for command in commands:
        yield f"        {command.name})"
        yield "            _arguments \\"
        yield from (f"                {spec} \\" for flag in command.flags for spec in _zsh_specs(flag))
        yield f"                {_single(_zsh_places(command))} ;;"
    yield "        esac ;;"
    yield "    esac"
    yield "}"
    # Loaded from a folder in $fpath, the file is the body of the function; sourced, it registers the function.
    yield "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then"
    yield '    _loaderlint "$@"'
    yield "else"
    yield "    compdef _loaderlint loaderlint"
    yield "fi"


def _zsh_places(command: Command) -> str:
    files = "_files" if command.takes_files else ""
    if not command.places:
        return f"*: :{files or ' '}"
    words = f"({' '.join(command.places)})"
    return f"*: :{{_alternative 'words:word:{words}' 'files:file:_files'}}" if files else f"*: :{words}"


def _zsh_specs(flag: Flag) -> Iterator[str]:
    text = flag.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    if flag.kind == "nothing":
        value = ""
    elif flag.kind == "word":
        value = f": :({' '.join(flag.words)})"
    elif flag.kind == "list":
        value = f": :_values -s , value {' '.join(flag.words)}"
    else:
        value = ": :_files" if flag.kind == "file" else ": : "
    for name in flag.names:
        equals = "=" if value and name.startswith("--") else ""
        yield _single(f"{name}{equals}[{text}]{value}")


def _single(text: str) -> str:
    """`text` in single quotes, escaped for a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


# --- fish -------------------------------------------------------------------------------------------------------------


def _fish(commands: list[Command], flags: tuple[Flag, ...]) -> Iterator[str]:
    yield "# fish completions of loaderlint, printed by `loaderlint completions fish`."
    yield "complete -c loaderlint -f"
    for flag in flags:
        yield f"complete -c loaderlint -n __fish_use_subcommand {_fish_flag(flag)}"
    for command in commands:
        yield f"complete -c loaderlint -n __fish_use_subcommand -a {command.name} -d {_fish_text(command.help)}"
        inside = f"complete -c loaderlint -n '__fish_seen_subcommand_from {command.name}'"
        if command.takes_files:
            yield f"{inside} -F"
        if command.places:
            yield f"{inside} -a {_fish_text(' '.join(command.places))}"
        yield from (f"{inside} {_fish_flag(flag)}" for flag in command.flags)


def _fish_flag(flag: Flag) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
    words = " ".join(flag.words)
    values = {
        "nothing": "",
        "word": f" -x -a {_fish_text(words)}",
        "list": f" -x -a {_fish_text(f'(__fish_append , {words})')}",
        "file": " -r -F",
        "text": " -x",
    }
    return f"{names}{values[flag.kind]} -d {_fish_text(flag.help)}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# --- PowerShell -------------------------------------------------------------------------------------------------------

_POWERSHELL_BEGIN = """\
# PowerShell completions of loaderlint, printed by `loaderlint completions powershell`.
Register-ArgumentCompleter -Native -CommandName loaderlint -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)"""
# The words before the cursor decide, without the one that is being typed. Where nothing is returned, PowerShell offers
# files by itself.
_POWERSHELL_END = """\
    $word = "$wordToComplete"
    $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    $before = @($typed | Select-Object -Skip 1 | ForEach-Object { "$_" })
    $command = @($before | Where-Object { $_ -notlike '-*' })[0]
    if ($null -eq $command) { $command = '' }
    $begin = ''
    $flag = if ($before.Count) { $before[-1] } else { '' }
    if ($word -match '^(--[^=]+)=(.*)$') {
        $flag = $Matches[1]
        $begin = "$flag="
        $word = $Matches[2]
    }
    $key = "$command $flag"
    if ($values.ContainsKey($key)) {
        $offered = $values[$key]
        if ($lists -contains $key -and $word -match '^(.*,)([^,]*)$') {
            $begin += $Matches[1]
            $word = $Matches[2]
        }
    } elseif ($texts -contains $key -or $begin) {
        $offered = @()
    } elseif ($word -like '-*') {
        $offered = $flags[$command]
    } else {
        $offered = $words[$command]
    }
    $offered | Where-Object { $_ -and $_.StartsWith($word) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new("$begin$_", $_, 'ParameterValue', $_)
    }
}"""


def _powershell(commands: list[Command], flags: tuple[Flag, ...]) -> Iterator[str]:
    named = [(f"{command.name} {name}", flag) for command in commands for flag in command.flags for name in flag.names]
    yield _POWERSHELL_BEGIN
    words = {"": tuple(command.name for command in commands)} | {command.name: command.places for command in commands}
    yield from _powershell_table("words", words)
    own = {command.name: command.flags for command in commands}
    names = {name: tuple(n for flag in each for n in flag.names) for name, each in ({"": flags} | own).items()}
    yield from _powershell_table("flags", names)
    yield from _powershell_table("values", {key: flag.words for key, flag in named if flag.words})
    yield f"    $lists = {_powershell_list(key for key, flag in named if flag.kind == 'list')}"
    yield f"    $texts = {_powershell_list(key for key, flag in named if flag.kind in ('file', 'text'))}"
    yield _POWERSHELL_END


def _powershell_table(name: str, table: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    yield f"    ${name} = @{{"
    yield from (f"        {_powershell_text(key)} = {_powershell_list(words)}" for key, words in table.items())
    yield "    }"


def _powershell_list(words: Iterable[str]) -> str:
    return f"@({', '.join(map(_powershell_text, words))})"


def _powershell_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
