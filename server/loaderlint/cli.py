"""The command line. Every run pays for what is imported here, so each command imports what it needs itself."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from loaderlint import __version__
from loaderlint.commands import BASELINE
from loaderlint.report import FORMATS
from loaderlint.report.exit_codes import FAILED
from loaderlint.report.terminal import complain

INTERRUPTED = 130
_COMMAND = "COMMAND"

#: The errors of a write to the output on a full disk. Commands report errors of the files that they write themselves.
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def entry() -> NoReturn:
    """Run the command line, and leave with its exit code."""
    # A command ends before garbage collection pays off: it would cost a seventh of a check. Long-running commands
    # enable it.
    gc.disable()
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has ended (`| head`): Python must not try to write the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except Exception as error:
        # Python would end with 1, which means findings.
        code = FAILED
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            complain(f"the output cannot be written: {error.strerror}; free some space, or write to another place")
        else:
            _complain_of(error)
    gc.freeze()  # otherwise Python collects garbage once more at exit
    sys.exit(code)


def _complain_of(error: Exception) -> None:
    """Report an internal error."""
    from loaderlint.findings.diagnostics import DEBUG, HOW_TO_REPORT
    from loaderlint.runtime.internal_errors import failure_of

    failure = failure_of(error)
    if os.environ.get(DEBUG):
        print(failure.traceback, end="", file=sys.stderr)
    complain(f"internal error: {failure.error}; nothing was reported. {HOW_TO_REPORT}")


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 no findings, 1 findings, 2 an error."""
    for stream in (sys.stdout, sys.stderr):
        # A path may contain characters that the terminal's encoding lacks: an escape is better than a crash.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    parser = _parser()
    if not arguments:
        parser.print_help(sys.stderr)
        return FAILED
    try:
        chosen = parser.parse_args(arguments)
    except SystemExit as leave:  # argparse has printed the error or the help
        return leave.code if isinstance(leave.code, int) else FAILED
    command: Callable[[argparse.Namespace], int] = chosen.command
    return command(chosen)


class _Parser(argparse.ArgumentParser):
    """Suggests the nearest flag, command or value for an unknown one, and prints one line about what is wrong: the
    usage of a command with many flags would hide that line."""

    def error(self, message: str) -> NoReturn:
        """Like the parent's method, but without the usage."""
        complain(f"{message}\nFor more information: {self.prog} --help")
        self.exit(FAILED)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        from loaderlint.settings.settings import nearest

        choices = list(map(str, action.choices))
        said = nearest(str(value), choices) or f"; choose from {', '.join(choices)}"
        if action.metavar == _COMMAND:
            raise argparse.ArgumentError(None, f"no command is called '{value}'{said}")
        raise argparse.ArgumentError(action, f"'{value}' is not a choice{said}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Like the parent's method, but an unknown flag is an error at once, reported for the command that it was given
        to."""
        chosen, rest = super().parse_known_args(args, namespace)
        unknown = next((word for word in rest if word.startswith("--")), None)
        if unknown is None:
            return chosen, rest
        from difflib import get_close_matches

        name = unknown.partition("=")[0]
        close = get_close_matches(name, self._option_string_actions, n=1)
        self.error(f"unknown flag {name}{f'; did you mean {close[0]}?' if close else ''}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="loaderlint",
        description="Finds the bugs that only exist because a PyTorch DataLoader runs your code in worker processes.",
    )
    parser.add_argument("--version", action="version", version=f"loaderlint {__version__}")
    commands = parser.add_subparsers(required=True, metavar=_COMMAND)
    _add_check(commands)
    _add_others(commands)
    return parser


def _add_check(commands: Any) -> None:
    check: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="find faults, and fix them",
        description="Find faults. PATH selects what is reported; the project around it is always read.",
        epilog="Exit codes: 0 no findings (hints do not count), 1 findings, 2 an error.",
    )
    check.set_defaults(command=_check)
    check.add_argument("paths", nargs="*", metavar="PATH", help="files or folders; - for standard input (default: .)")
    check.add_argument("--stdin-filename", metavar="FILE", help="the file name for standard input")
    check.add_argument("--fix", action="store_true", help="apply safe fixes")
    check.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: apply unsafe fixes too")
    check.add_argument("--diff", action="store_true", help="show what --fix would change, without changing it")
    check.add_argument("--show-fixes", action="store_true", help="with --fix: print a diff of the changes to stderr")
    check.add_argument(
        "--only-named", action="store_true", help="with --fix or --diff: change only files that PATH names"
    )
    check.add_argument(
        "--suppress",
        action="store_true",
        help="write a suppression comment for each finding (with --fix: for each that is left)",
    )
    check.add_argument(
        "--compare",
        action="append",
        metavar="NAME=VALUE,...",
        help="report which findings would appear and disappear with python=3.14, torch=2.9, platforms=windows,"
        " start-method=spawn or the version of a package (albumentations=2.0); several are compared one by one and"
        " together",
    )
    check.add_argument("--watch", action="store_true", help="check again whenever something changes, until Ctrl+C")
    check.add_argument("--output-format", choices=tuple(FORMATS), default="text", help="(default: text)")
    check.add_argument("--output-file", metavar="FILE", help="write the report to this file instead of the terminal")
    check.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)")
    check.add_argument("-q", "--quiet", action="store_true", help="print findings only, without the summary line")
    check.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print to stderr which files are read, which settings and versions apply and why, and the time",
    )
    check.add_argument(
        "--fail-on",
        choices=("error", "warning", "information"),
        default="warning",
        help="exit with 1 only if a finding is at least this severe (default: %(default)s)",
    )
    check.add_argument("-e", "--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    check.add_argument(
        "--hints",
        action="store_true",
        help="show hints too (JSON always has them); with --fix or --diff: fix them too",
    )
    instead = check.add_mutually_exclusive_group()
    instead.add_argument("--show-files", action="store_true", help="list the files that would be checked, and exit")
    instead.add_argument(
        "--show-settings", action="store_true", help="show the settings and versions that apply to PATH, and exit"
    )
    check.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    check.add_argument(
        "--write-baseline",
        nargs="?",
        const="",
        metavar="FILE",
        help="write all findings to a baseline, and report none",
    )
    check.add_argument("--force-exclude", action="store_true", help="apply exclude to files that PATH names, too")
    check.add_argument(
        "--jobs",
        type=_positive,
        default=1,
        metavar="N",
        help="number of processes, for a repository with several packages (default: %(default)s); each needs the memory"
        " of a check",
    )
    check.add_argument("--no-cache", action="store_true", help="do not use the cache")
    _add_cache_dir(check)
    _add_settings(check)


def _add_cache_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cache-dir", metavar="DIR", help="the folder of the cache (default: $LOADERLINT_CACHE_DIR, or the user's)"
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings", "The settings of pyproject.toml. A flag overrides the file's value.")
    listed: Any = {"type": _listed, "metavar": "RULE,..."}
    files = group.add_mutually_exclusive_group()
    files.add_argument(
        "--config",
        metavar="FILE",
        help="read the settings only from this file, which is named pyproject.toml or has the format of"
        " loaderlint.toml; its patterns are relative to the current folder",
    )
    files.add_argument("--isolated", action="store_true", help="ignore all settings files")
    group.add_argument("--select", **listed, help="run only these rules: names, codes, code prefixes, ALL")
    group.add_argument("--extend-select", **listed, help="run these rules too")
    group.add_argument("--ignore", **listed, help="do not run these rules")
    group.add_argument(
        "--per-file-ignores", type=_listed, metavar="PATTERN:RULE,...", help="ignore rules in some files"
    )
    group.add_argument("--severity", type=_listed, metavar="RULE=LEVEL,...", help="error, warning, information or hint")
    group.add_argument("--exclude", type=_listed, metavar="PATTERN,...", help="exclude these files")
    group.add_argument("--target-torch", metavar="VERSION", help="2.4, or a range such as '>=2.0,<2.5'")
    group.add_argument("--target-python", metavar="VERSION", help="3.12, or a range")
    group.add_argument("--platforms", type=_listed, metavar="NAME,...", help="linux, macos, windows")
    group.add_argument("--start-method", metavar="NAME", help="fork, spawn or forkserver")
    group.add_argument("--loaders", type=_listed, metavar="NAME,...", help="your own functions that create a loader")
    baseline = group.add_mutually_exclusive_group()
    baseline.add_argument(
        "--baseline",
        nargs="?",
        const=BASELINE,
        metavar="FILE",
        help="do not report the findings in this baseline (default: %(const)s)",
    )
    baseline.add_argument("--no-baseline", dest="baseline", action="store_const", const="", help="report all findings")
    group.add_argument("--no-audits", action="store_true", help="ignore the results of earlier audits")


def _add_others(commands: Any) -> None:
    explain = commands.add_parser(
        "explain",
        help="show a rule's page, or explain a line",
        description="Show a rule's page, or explain a line: in which loaders' workers it runs and why, what the rules"
        " find there, and why other rules that looked at it report nothing.",
    )
    explain.set_defaults(command=_explain)
    explain.add_argument(
        "subject",
        metavar="RULE | FILE:LINE[:COLUMN]",
        help="a rule by name or code (shared-generator, LDR102), or a line (data.py:12); in a notebook, lines are"
        " counted through all code cells",
    )
    explain.add_argument("--output-format", choices=("text", "json"), default="text", help="of a line (default: text)")
    _add_settings(explain)

    diagnose = commands.add_parser(
        "diagnose",
        help="find the cause of a traceback or worker message",
        description="Read the output of a program, name the cause and the cure of its error message, and show where the"
        " project has this cause: python train.py 2>&1 | loaderlint diagnose. It prints the output too, and runs"
        " nothing.",
        epilog="Exit codes: 0 a message was recognised, 1 none was, 2 an error.",
    )
    diagnose.set_defaults(command=_diagnose)
    diagnose.add_argument("file", nargs="?", metavar="FILE", help="a file with the output (default: standard input)")
    diagnose.add_argument("--project", default=".", metavar="PATH", help="the project to search (default: .)")
    diagnose.add_argument("--output-format", choices=("text", "json"), default="text", help="(default: text)")
    _add_settings(diagnose)

    workers = commands.add_parser(
        "workers",
        help="list what runs where: the worker map",
        description="List each loader with its datasets, the functions that run in its workers, and the objects that"
        " are copied into each worker.",
    )
    workers.set_defaults(command=_workers)
    workers.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the current folder)")
    workers.add_argument("--output-format", choices=("text", "json"), default="text", help="(default: text)")
    workers.add_argument("--all", action="store_true", help="show everything, also in large projects")
    _add_settings(workers)

    _add_audit(commands)

    rules = commands.add_parser("rules", help="list the rules", description="List the rules.")
    rules.set_defaults(command=_rules)
    rules.add_argument("--output-format", choices=("text", "json"), default="text", help="(default: text)")

    completions = commands.add_parser(
        "completions",
        help="print shell completions",
        description="Print the script with which a shell completes loaderlint's command line.",
        epilog='bash: eval "$(loaderlint completions bash)" in ~/.bashrc; zsh: loaderlint completions zsh >'
        " DIR/_loaderlint for a DIR in $fpath; fish: loaderlint completions fish >"
        " ~/.config/fish/completions/loaderlint.fish; PowerShell: loaderlint completions powershell | Out-String |"
        " Invoke-Expression in $PROFILE",
    )
    completions.set_defaults(command=_completions)
    completions.add_argument("shell", choices=("bash", "zsh", "fish", "powershell"))

    clean = commands.add_parser(
        "clean", help="delete the cache", description="Delete the files that make later checks faster."
    )
    clean.set_defaults(command=_clean)
    _add_cache_dir(clean)
    clean.add_argument("--show", action="store_true", help="only print its folder and size")

    server = commands.add_parser(
        "server", help="start the language server", description="Start the language server on stdin and stdout."
    )
    server.set_defaults(command=_server, transport="stdio")
    kind = server.add_mutually_exclusive_group()
    kind.add_argument("--stdio", dest="transport", action="store_const", const="stdio", help="the default")
    kind.add_argument("--tcp", dest="transport", action="store_const", const="tcp", help="wait for a TCP connection")
    kind.add_argument(
        "--ws", dest="transport", action="store_const", const="ws", help="wait for a WebSocket connection"
    )
    server.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    server.add_argument(
        "--port", type=int, default=2087, help="port to listen on, 0 for a free one (default: %(default)s)"
    )
    server.add_argument(
        "--token",
        type=_token,
        metavar="TEXT",
        help="with --tcp or --ws: the token that a client must send; other users can see command lines, so prefer"
        " $LOADERLINT_TOKEN (default: a new token, printed to stderr)",
    )
    server.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="with --ws: accept web pages from this origin, such as https://example.org; can be repeated (default: no"
        " web pages)",
    )
    server.add_argument("--no-cache", action="store_true", help="do not use the cache")
    _add_cache_dir(server)

    _add_survey(commands)


def _add_audit(commands: Any) -> None:
    audit: argparse.ArgumentParser = commands.add_parser(
        "audit",
        help="run your program and prove what its loaders do",
        description="Run your program, and audit each DataLoader when it is first iterated: watch its workers, in"
        " copies of the process. Then stop the program. This is the only command that runs your code.",
        usage="loaderlint audit [options] FILE [ARGUMENT ...]\n"
        "       loaderlint audit [options] -m MODULE [ARGUMENT ...]",
        epilog="Exit codes: 0 no faults, 1 faults, 2 the program failed or iterated no loader.",
    )
    audit.set_defaults(command=_audit)
    audit.add_argument("-m", dest="module", action="store_true", help="the program is a module, as for python -m")
    audit.add_argument(
        "--epochs", type=_positive, default=2, metavar="N", help="epochs of each loader (default: %(default)s)"
    )
    audit.add_argument(
        "--batches",
        type=_positive,
        default=8,
        metavar="N",
        help="batches of each epoch, at most (default: %(default)s)",
    )
    audit.add_argument(
        "--ranks",
        type=_positive,
        default=1,
        metavar="N",
        help="iterate each loader as each of N processes of a distributed program would, and compare their items"
        " (default: 1, do not)",
    )
    audit.add_argument(
        "--timeout",
        type=_positive,
        default=60,
        metavar="SECONDS",
        help="time for each loader; a program that reaches no other loader in twice the time is stopped (default:"
        " %(default)s)",
    )
    audit.add_argument("--output-format", choices=("text", "json"), default="text", help="(default: text)")
    audit.add_argument(
        "--no-record",
        action="store_true",
        help="do not keep the results for `loaderlint check`, and do not compare them with its findings",
    )
    audit.add_argument("program", nargs=argparse.REMAINDER, metavar="FILE [ARGUMENT ...]", help="the program to run")


def _add_survey(commands: Any) -> None:
    survey: argparse.ArgumentParser = commands.add_parser(
        "survey",
        help="count hazards over many repositories",
        description="Count, over many repositories, how common each hazard is: with the versions that each declares,"
        " and on torch before 1.9.",
        usage="loaderlint survey [options] [DIR ...]\n       loaderlint survey merge [options] FILE ...",
        epilog="A DIR is a repository if it contains a project file or Python files; otherwise each folder in it is"
        " one. `survey merge` combines the results that several surveys (shards) saved with --results.",
    )
    survey.set_defaults(command=_survey)
    survey.add_argument("paths", nargs="*", metavar="DIR", help="repositories, or folders of them (default: .)")
    survey.add_argument("--repositories-from", metavar="FILE", help="read their paths from a file, one per line")
    survey.add_argument(
        "--results", metavar="FILE", help="save results in this file, and skip repositories that are in it"
    )
    survey.add_argument("--output-format", choices=("text", "json"), default="text", help="(default: text)")
    survey.add_argument("--html", metavar="FILE", help="write a page with charts (pip install 'loaderlint[survey]')")
    survey.add_argument("--shard", metavar="I/N", help="only part I (from 1) of N, chosen by the repositories' names")
    survey.add_argument("--retry-failed", action="store_true", help="retry repositories that failed before")
    survey.add_argument("--jobs", type=_positive, metavar="N", help="number of processes (default: one per processor)")
    survey.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="use the workers of the Dask cluster with the scheduler at this address (pip install 'loaderlint[dask]')",
    )
    survey.add_argument(
        "--timeout",
        type=_positive,
        default=600,
        metavar="SECONDS",
        help="time for each repository (default: %(default)s)",
    )
    survey.add_argument(
        "--memory",
        type=_positive,
        default=4096,
        metavar="MIB",
        help="memory for each process, on Linux (default: %(default)s)",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


def _token(text: str) -> str:
    if not text.strip() or not text.isascii():
        raise argparse.ArgumentTypeError("it must not be empty, and may contain only ASCII characters")
    return text


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


# --- commands ---------------------------------------------------------------------------------------------------------


def _check(chosen: argparse.Namespace) -> int:
    if chosen.watch:
        from loaderlint.commands.watch import watch

        return watch(chosen)
    from loaderlint.commands.cached_check import answer

    known = answer(chosen)
    if known is not None:
        return known
    from loaderlint.commands.check import check

    return check(chosen)


def _explain(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.explain import explain

    return explain(chosen)


def _diagnose(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.diagnose import diagnose

    return diagnose(chosen)


def _workers(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.workers import workers

    return workers(chosen)


def _audit(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.audit import audit

    return audit(chosen)


def _rules(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.rules import rules

    return rules(chosen)


def _completions(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.completions import completions

    print(completions(_parser(), chosen.shell), end="")
    return 0


def _clean(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.clean import clean

    return clean(chosen)


def _server(chosen: argparse.Namespace) -> int:
    if chosen.transport == "stdio" and (chosen.token or chosen.allow_origin):
        complain("--token and --allow-origin are for a server that listens: add --tcp or --ws")
        return FAILED
    from loaderlint.lsp import main as serve

    return serve(
        chosen.transport,
        chosen.host,
        chosen.port,
        token=chosen.token,
        origins=chosen.allow_origin,
        cache_dir=chosen.cache_dir,
        no_cache=chosen.no_cache,
    )


def _survey(chosen: argparse.Namespace) -> int:
    from loaderlint.commands.survey import survey

    return survey(chosen)
