"""The script that every process of ours begins with: it looks for modules in the given folders only, and calls `main`
of the module. Arguments: LIFELINE COUNT FOLDER... MODULE ARGUMENT...

It is a file because `python -c` and `python -m` look for modules in the current folder before they run anything of
ours. Python puts this file's folder on the path instead, until the first statement takes it off again."""

import sys

lifeline, count = map(int, sys.argv[1:3])
sys.path[:] = sys.argv[3 : 3 + count]
module, *arguments = sys.argv[3 + count :]

if sys.platform == "linux" and lifeline >= 0:
    # The parent alone holds the other end of this pipe and never writes to it. When the parent ends, however it does,
    # the kernel signals that the pipe is readable, and SIGIO ends a process that does not handle it: also one whose
    # only thread that could notice the end of stdin waits for the interpreter. PR_SET_PDEATHSIG would follow the thread
    # that started this process instead of its process.
    import fcntl
    import os
    import select
    import signal

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it ended before that
        os._exit(0)

__import__(module)
sys.modules[module].main(*arguments)
