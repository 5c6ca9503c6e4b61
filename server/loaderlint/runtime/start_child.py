"""The script that every child process of loaderlint starts with: it searches only the given folders for modules, and
calls `main` of the module. Arguments: LIFELINE COUNT FOLDER... MODULE ARGUMENT...

It is a file because `python -c` and `python -m` search the current folder for modules before they run any of our code.
For a file, Python puts the file's folder on the path instead, and the first statement removes it."""

import sys

lifeline, count = map(int, sys.argv[1:3])
sys.path[:] = sys.argv[3 : 3 + count]
module, *arguments = sys.argv[3 + count :]

if sys.platform == "linux" and lifeline >= 0:
    # Only the parent holds the other end of this pipe, and it never writes to it. When the parent ends, for whatever
    # reason, the kernel signals that the pipe is readable, and SIGIO ends a process that does not handle it, even if
    # the only thread that could notice the end of stdin is waiting for the interpreter. PR_SET_PDEATHSIG would follow
    # the thread that started this process, not its process.
    import fcntl
    import os
    import select
    import signal

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # the parent ended before that
        os._exit(0)

__import__(module)
sys.modules[module].main(*arguments)
